"""The controllers of the embedded cluster, one file each; all of them are clients of the store."""
