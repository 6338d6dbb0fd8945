"""The field numbers of Kubernetes' protobuf messages, for the kinds that typed clients create.

A line is a message; its fields stand in the order of their numbers, from 1. ``-`` is a number that
is not used (any more) or not needed here; ``~http`` is a message around that one field, which JSON
leaves out.
"""

from __future__ import annotations

_OBJECT = "metadata spec status"

_MESSAGES = {
    "apimachinery.pkg.apis.meta.v1.ObjectMeta": "name generateName namespace selfLink uid "
    "resourceVersion generation creationTimestamp deletionTimestamp deletionGracePeriodSeconds "
    "labels annotations ownerReferences finalizers - - managedFields",
    "apimachinery.pkg.apis.meta.v1.OwnerReference": "kind - name uid apiVersion controller "
    "blockOwnerDeletion",
    "apimachinery.pkg.apis.meta.v1.LabelSelector": "matchLabels matchExpressions",
    "apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement": "key operator values",
    "apimachinery.pkg.apis.meta.v1.DeleteOptions": "gracePeriodSeconds preconditions "
    "orphanDependents propagationPolicy dryRun",
    "apimachinery.pkg.apis.meta.v1.Preconditions": "uid resourceVersion",
    "api.core.v1.Namespace": _OBJECT,
    "api.core.v1.NamespaceSpec": "finalizers",
    "api.core.v1.NamespaceStatus": "phase conditions",
    "api.core.v1.ConfigMap": "metadata data binaryData immutable",
    "api.core.v1.Secret": "metadata data type stringData immutable",
    "api.core.v1.ServiceAccount": "metadata secrets imagePullSecrets automountServiceAccountToken",
    "api.core.v1.LocalObjectReference": "name",
    "api.core.v1.ObjectReference": "kind namespace name uid apiVersion resourceVersion fieldPath",
    "api.core.v1.ResourceQuota": _OBJECT,
    "api.core.v1.ResourceQuotaSpec": "hard scopes",
    "api.core.v1.ResourceQuotaStatus": "hard used",
    "api.core.v1.Service": _OBJECT,
    "api.core.v1.ServiceSpec": "ports selector clusterIP type externalIPs - sessionAffinity "
    "loadBalancerIP loadBalancerSourceRanges externalName externalTrafficPolicy "
    "healthCheckNodePort publishNotReadyAddresses - - - ipFamilyPolicy clusterIPs ipFamilies "
    "allocateLoadBalancerNodePorts loadBalancerClass internalTrafficPolicy trafficDistribution",
    "api.core.v1.ServicePort": "name protocol port targetPort nodePort appProtocol",
    "api.core.v1.ServiceStatus": "loadBalancer conditions",
    "api.core.v1.LoadBalancerStatus": "ingress",
    "api.core.v1.Binding": "metadata target",
    "api.core.v1.Pod": _OBJECT,
    "api.core.v1.PodStatus": "phase conditions message reason hostIP podIP startTime",
    "api.core.v1.PodTemplateSpec": "metadata spec",
    "api.core.v1.PodSpec": "- containers restartPolicy terminationGracePeriodSeconds "
    "activeDeadlineSeconds dnsPolicy nodeSelector serviceAccountName serviceAccount nodeName "
    "hostNetwork hostPID hostIPC securityContext imagePullSecrets hostname subdomain - "
    "schedulerName initContainers automountServiceAccountToken tolerations - priorityClassName "
    "priority - shareProcessNamespace - runtimeClassName enableServiceLinks preemptionPolicy "
    "overhead",
    "api.core.v1.PodSecurityContext": "- runAsUser runAsNonRoot",
    "api.core.v1.Toleration": "key operator value effect tolerationSeconds",
    "api.core.v1.Container": "name image command args workingDir ports env resources - - - - "
    "terminationMessagePath imagePullPolicy - stdin stdinOnce tty - terminationMessagePolicy",
    "api.core.v1.ContainerPort": "name hostPort containerPort protocol hostIP",
    "api.core.v1.EnvVar": "name value",
    "api.core.v1.ResourceRequirements": "limits requests",
    "api.apps.v1.Deployment": _OBJECT,
    "api.apps.v1.DeploymentSpec": "replicas selector template strategy minReadySeconds "
    "revisionHistoryLimit paused - progressDeadlineSeconds",
    "api.apps.v1.DeploymentStrategy": "type rollingUpdate",
    "api.apps.v1.RollingUpdateDeployment": "maxUnavailable maxSurge",
    "api.apps.v1.DeploymentStatus": "observedGeneration replicas updatedReplicas "
    "availableReplicas unavailableReplicas conditions readyReplicas collisionCount",
    "api.autoscaling.v1.HorizontalPodAutoscaler": _OBJECT,
    "api.autoscaling.v1.HorizontalPodAutoscalerSpec": "scaleTargetRef minReplicas maxReplicas "
    "targetCPUUtilizationPercentage",
    "api.autoscaling.v1.CrossVersionObjectReference": "kind name apiVersion",
    "api.autoscaling.v1.HorizontalPodAutoscalerStatus": "observedGeneration lastScaleTime "
    "currentReplicas desiredReplicas currentCPUUtilizationPercentage",
    "api.autoscaling.v2.HorizontalPodAutoscaler": _OBJECT,
    "api.autoscaling.v2.HorizontalPodAutoscalerSpec": "scaleTargetRef minReplicas maxReplicas "
    "metrics",
    "api.autoscaling.v2.CrossVersionObjectReference": "kind name apiVersion",
    "api.autoscaling.v2.MetricSpec": "type - - resource",
    "api.autoscaling.v2.ResourceMetricSource": "name target",
    "api.autoscaling.v2.MetricTarget": "type value averageValue averageUtilization",
    "api.autoscaling.v2.HorizontalPodAutoscalerStatus": "observedGeneration lastScaleTime "
    "currentReplicas desiredReplicas",
    "api.batch.v1.Job": _OBJECT,
    "api.batch.v1.JobSpec": "parallelism completions activeDeadlineSeconds selector "
    "manualSelector template backoffLimit ttlSecondsAfterFinished completionMode suspend",
    "api.batch.v1.JobStatus": "conditions startTime completionTime active succeeded failed "
    "completedIndexes uncountedTerminatedPods ready failedIndexes terminating",
    "api.batch.v1.CronJob": _OBJECT,
    "api.batch.v1.CronJobSpec": "schedule startingDeadlineSeconds concurrencyPolicy suspend "
    "jobTemplate successfulJobsHistoryLimit failedJobsHistoryLimit timeZone",
    "api.batch.v1.CronJobStatus": "active - - lastScheduleTime lastSuccessfulTime",
    "api.batch.v1.JobTemplateSpec": "metadata spec",
    "api.networking.v1.Ingress": _OBJECT,
    "api.networking.v1.IngressSpec": "defaultBackend tls rules ingressClassName",
    "api.networking.v1.IngressTLS": "hosts secretName",
    "api.networking.v1.IngressRule": "host ~http",
    "api.networking.v1.HTTPIngressRuleValue": "paths",
    "api.networking.v1.HTTPIngressPath": "path backend pathType",
    "api.networking.v1.IngressBackend": "- - resource service",
    "api.networking.v1.IngressServiceBackend": "name port",
    "api.networking.v1.ServiceBackendPort": "name number",
    "api.networking.v1.IngressStatus": "loadBalancer",
    "api.networking.v1.IngressLoadBalancerStatus": "ingress",
    "api.core.v1.TypedLocalObjectReference": "apiGroup kind name",
    "api.policy.v1.PodDisruptionBudget": _OBJECT,
    "api.policy.v1.PodDisruptionBudgetSpec": "minAvailable selector maxUnavailable "
    "unhealthyPodEvictionPolicy",
    "api.policy.v1.PodDisruptionBudgetStatus": "observedGeneration disruptedPods "
    "disruptionsAllowed currentHealthy desiredHealthy expectedPods conditions",
    "api.policy.v1.Eviction": "metadata deleteOptions",
    "api.scheduling.v1.PriorityClass": "metadata value globalDefault description preemptionPolicy",
    "api.rbac.v1.Role": "metadata rules",
    "api.rbac.v1.ClusterRole": "metadata rules aggregationRule",
    "api.rbac.v1.AggregationRule": "clusterRoleSelectors",
    "api.rbac.v1.PolicyRule": "verbs apiGroups resources resourceNames nonResourceURLs",
    "api.rbac.v1.RoleBinding": "metadata subjects roleRef",
    "api.rbac.v1.ClusterRoleBinding": "metadata subjects roleRef",
    "api.rbac.v1.Subject": "kind apiGroup name namespace",
    "api.rbac.v1.RoleRef": "apiGroup kind name",
    "api.coordination.v1.Lease": "metadata spec",
    "api.coordination.v1.LeaseSpec": "holderIdentity leaseDurationSeconds acquireTime renewTime "
    "leaseTransitions",
}

FIELDS: dict[str, dict[int, str]] = {
    message: {number: name for number, name in enumerate(names.split(), 1) if name != "-"}
    for message, names in _MESSAGES.items()
}
