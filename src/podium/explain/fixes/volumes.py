"""Claims and volumes that are missing: the objects to create so that the pod can use them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from msgspec.structs import replace

from podium.api.claims import BIND_COMPLETED, claim_key, class_name, named_claims
from podium.api.objects import (
    ObjectMeta,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from podium.api.storage import (
    PersistentVolumeClaimStatus,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
)
from podium.api.volumes import HostPath, PersistentVolumeClaimSpec, VolumeResourceRequirements
from podium.explain.amounts import listed
from podium.explain.case import Case
from podium.explain.edits import ReplaceObject, SetObject
from podium.explain.fixes.candidate import Candidate, creation
from podium.explain.shortfalls.volumes import claims_of
from podium.plugins.volume.binding.pod_claims import is_bound
from podium.plugins.volume.binding.provisioning import NO_PROVISIONER
from podium.plugins.volume.claims import WAIT_FOR_FIRST_CONSUMER

_MOST_CLASSES: Final = 16
_MOST_CLAIMS: Final = 6  # with more claims, not every subset is tried
_SIZE: Final = "1Gi"  # a suggested claim requests this much


def missing_claims(case: Case) -> Iterator[Candidate]:
    """Yield the claims that the pod names and that do not exist, of each class in turn.

    A class that makes volumes once the pod has a node comes first: it needs nothing else.
    """
    store = case.cluster.objects(PersistentVolumeClaim)
    names = [
        named.name
        for named in named_claims(case.pod)
        if not named.is_ephemeral
        and named.name
        and store.get(claim_key(case.pod.namespace, named.name)) is None
    ]
    if not names:
        return
    classes = [each for each in case.cluster.objects(StorageClass) if _provisions(each)]
    classes.sort(key=lambda each: (not _waits(each), each.name))
    for storage_class in [each.name for each in classes[:_MOST_CLASSES]] or [""]:
        claims = [_new_claim(case, name, storage_class) for name in dict.fromkeys(names)]
        made = [_served(case, claim) for claim in claims]
        text = f"create the claim{'s' if len(made) > 1 else ''} {listed(names, most=9)}"
        yield Candidate(
            "create-claim",
            f"{text} of class {storage_class}" if storage_class else text,
            edits=tuple(edit for each in made for edit in each.edits),
            changes=tuple(change for each in made for change in each.changes),
            details={"claims": names, "storageClass": storage_class},
        )


def missing_volumes(case: Case) -> Iterator[Candidate]:
    """Yield volumes for claims of the pod that have none, for as few claims as possible first.

    A claim may not need one: its volume can be made when the pod has a node.
    """
    claims = [claim for claim in claims_of(case) if _lacks_volume(case, claim)]
    fewest = 1 if len(claims) <= _MOST_CLAIMS else len(claims)
    for size in range(fewest, len(claims) + 1):
        for chosen in combinations(claims, size):
            yield _volumes_for(chosen)


def _volumes_for(claims: tuple[PersistentVolumeClaim, ...]) -> Candidate:
    made = [_with_volume(claim) for claim in claims]
    names = [claim.name for claim in claims]
    text = f"create a volume for the claim{'s' if len(names) > 1 else ''} {listed(names, most=9)}"
    return Candidate(
        "create-volume",
        text,
        edits=tuple(edit for each in made for edit in each.edits),
        changes=tuple(change for each in made for change in each.changes),
        details={"claims": names},
    )


def _lacks_volume(case: Case, claim: PersistentVolumeClaim) -> bool:
    if claim.is_terminating:
        return False
    if claim.spec.volume_name:
        return case.cluster.objects(PersistentVolume).get(claim.spec.volume_name) is None
    return not is_bound(claim)


# --- objects to create ----------------------------------------------------------------------------


def _new_claim(case: Case, name: str, storage_class: str) -> PersistentVolumeClaim:
    return PersistentVolumeClaim(
        metadata=ObjectMeta(name=name, namespace=case.pod.namespace, uid=f"uid-{name}"),
        spec=PersistentVolumeClaimSpec(
            access_modes=("ReadWriteOnce",),
            resources=VolumeResourceRequirements(requests={"storage": _SIZE}),
            storage_class_name=storage_class,
        ),
        status=PersistentVolumeClaimStatus(phase="Pending"),
    )


def _provisions(given: StorageClass) -> bool:
    return given.provisioner not in ("", NO_PROVISIONER)


def _waits(given: StorageClass) -> bool:
    return given.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER


def _served(case: Case, claim: PersistentVolumeClaim) -> Candidate:
    """Return a new claim with what makes it usable."""
    text = f"create the claim {claim.name}"
    wanted = case.cluster.objects(StorageClass).get(class_name(claim))
    written = creation(replace(claim, status=PersistentVolumeClaimStatus()), text)
    if wanted is not None and _waits(wanted):
        return Candidate("", text, edits=(SetObject(claim),), changes=(written,))
    made = _with_volume(claim)
    changes = (written,) if wanted is not None else (written, *made.changes)
    return Candidate("", text, edits=(SetObject(claim), *made.edits), changes=changes)


def _with_volume(claim: PersistentVolumeClaim) -> Candidate:
    """Return a volume for a claim, and the claim as it is once it is bound to it."""
    name = claim.spec.volume_name or f"volume-for-{claim.namespace}-{claim.name}"
    volume = PersistentVolume(
        metadata=ObjectMeta(name=name, uid=f"uid-{name}"),
        spec=PersistentVolumeSpec(
            capacity={"storage": claim.spec.resources.requests.get("storage", _SIZE)},
            access_modes=claim.spec.access_modes or ("ReadWriteOnce",),
            claim_ref=ObjectReference(
                api_version="v1",
                kind="PersistentVolumeClaim",
                namespace=claim.namespace,
                name=claim.name,
            ),
            storage_class_name=class_name(claim),
            volume_mode=claim.spec.volume_mode or "",
            host_path=HostPath(path=f"/mnt/{name}"),
        ),
    )
    bound = replace(
        claim,
        metadata=replace(claim.metadata, annotations={**claim.annotations, BIND_COMPLETED: "yes"}),
        spec=replace(claim.spec, volume_name=name),
        status=PersistentVolumeClaimStatus(phase="Bound"),
    )
    there = replace(volume, status=PersistentVolumeStatus(phase="Bound"))
    text = f"create the volume {name} for the claim {claim.name}"
    return Candidate(
        "", text, edits=(SetObject(there), ReplaceObject(bound)), changes=(creation(volume, text),)
    )
