package defaults_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// TestDefaults fills an object of each kind that has rules of its own, and looks
// for what must be in the result.
func TestDefaults(t *testing.T) {
	const plainContainer = "imagePullPolicy: IfNotPresent, terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File"
	for _, test := range []struct {
		name, obj, want string
	}{
		{
			name: "pod",
			obj:  "{apiVersion: v1, kind: Pod, spec: {containers: [{name: c, image: 'nginx:1.27', ports: [{containerPort: 80}]}]}}",
			want: "spec: {containers: [{" + plainContainer + ", ports: [{protocol: TCP, hostPort: null}]}], restartPolicy: Always, dnsPolicy: ClusterFirst, schedulerName: default-scheduler, securityContext: {}, terminationGracePeriodSeconds: 30, enableServiceLinks: true}",
		}, {
			name: "requests from limits",
			obj:  "{apiVersion: v1, kind: Pod, spec: {containers: [{name: c, image: a, resources: {limits: {cpu: 100.1m, memory: 1Gi}, requests: {memory: 1Mi}}}]}}",
			want: "spec: {containers: [{imagePullPolicy: Always, resources: {limits: {cpu: 101m}, requests: {cpu: 101m, memory: 1Mi}}}]}",
		}, {
			name: "host network",
			obj:  "{apiVersion: v1, kind: Pod, spec: {hostNetwork: true, containers: [{name: c, image: a, ports: [{containerPort: 80}]}]}}",
			want: "spec: {containers: [{ports: [{hostPort: 80}]}]}",
		}, {
			name: "resources of the pod",
			obj:  "{apiVersion: v1, kind: Pod, spec: {resources: {limits: {cpu: 2, memory: 1Gi}}, containers: [{name: c, image: a, resources: {requests: {cpu: 1}}}]}}",
			want: "spec: {resources: {limits: {cpu: '2', memory: 1Gi}, requests: {cpu: '1', memory: 1Gi}}}",
		}, {
			name: "old account field", obj: "{apiVersion: v1, kind: Pod, spec: {serviceAccount: a}}",
			want: "spec: {serviceAccountName: a, serviceAccount: a}",
		}, {
			name: "negative grace period", obj: "{apiVersion: v1, kind: Pod, spec: {terminationGracePeriodSeconds: -5}}",
			want: "spec: {terminationGracePeriodSeconds: 1}",
		}, {
			name: "template gets less",
			obj:  "{apiVersion: v1, kind: PodTemplate, template: {spec: {hostNetwork: true, terminationGracePeriodSeconds: -5, containers: [{name: c, image: a, ports: [{containerPort: 80}], resources: {limits: {cpu: 1}}}]}}}",
			want: "template: {spec: {enableServiceLinks: null, terminationGracePeriodSeconds: -5, containers: [{resources: {requests: null}, ports: [{hostPort: null}]}]}}",
		}, {
			name: "probes",
			obj:  "{apiVersion: v1, kind: Pod, spec: {containers: [{name: c, image: a, livenessProbe: {httpGet: {port: 80}}, readinessProbe: {grpc: {port: 1}, periodSeconds: 3}, lifecycle: {preStop: {httpGet: {port: 80}}}}]}}",
			want: "spec: {containers: [{livenessProbe: {httpGet: {path: /, scheme: HTTP}, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3}, readinessProbe: {grpc: {service: ''}, periodSeconds: 3}, lifecycle: {preStop: {httpGet: {path: /, scheme: HTTP}}}}]}",
		}, {
			name: "volumes",
			obj: `apiVersion: v1
kind: Pod
spec:
  volumes:
  - name: a
  - {name: b, secret: {secretName: s}}
  - {name: c, projected: {sources: [{serviceAccountToken: {path: t}}, {downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.name}}]}}]}}
  - {name: d, hostPath: {path: /x}}
  - {name: e, image: {reference: "a:1"}}
  - {name: f, ephemeral: {volumeClaimTemplate: {spec: {}}}}
  - {name: g, iscsi: {}}`,
			want: `spec:
  volumes:
  - {emptyDir: {}}
  - {secret: {defaultMode: 420}}
  - {projected: {defaultMode: 420, sources: [{serviceAccountToken: {expirationSeconds: 3600}}, {downwardAPI: {items: [{fieldRef: {apiVersion: v1}}]}}]}}
  - {hostPath: {type: ""}}
  - {image: {pullPolicy: IfNotPresent}}
  - {ephemeral: {volumeClaimTemplate: {spec: {volumeMode: Filesystem}}}}
  - {iscsi: {iscsiInterface: default}}`,
		}, {
			name: "service", obj: "{apiVersion: v1, kind: Service, spec: {ports: [{port: 80}, {port: 81, targetPort: web}]}}",
			want: "spec: {type: ClusterIP, sessionAffinity: None, internalTrafficPolicy: Cluster, externalTrafficPolicy: null, ports: [{protocol: TCP, targetPort: 80}, {targetPort: web}]}",
		}, {
			name: "balancer", obj: "{apiVersion: v1, kind: Service, spec: {type: LoadBalancer, sessionAffinity: ClientIP}, status: {loadBalancer: {ingress: [{ip: 1.2.3.4}]}}}",
			want: "{spec: {externalTrafficPolicy: Cluster, allocateLoadBalancerNodePorts: true, sessionAffinityConfig: {clientIP: {timeoutSeconds: 10800}}}, status: {loadBalancer: {ingress: [{ipMode: VIP}]}}}",
		}, {
			name: "external name", obj: "{apiVersion: v1, kind: Service, spec: {type: ExternalName}}",
			want: "spec: {internalTrafficPolicy: null}",
		}, {
			name: "namespace", obj: "{apiVersion: v1, kind: Namespace, metadata: {name: ns}}",
			want: "{metadata: {labels: {kubernetes.io/metadata.name: ns}}, status: {phase: Active}}",
		}, {
			name: "node", obj: "{apiVersion: v1, kind: Node, status: {capacity: {cpu: 4}}}",
			want: "status: {allocatable: {cpu: '4'}}",
		}, {
			name: "secret", obj: "{apiVersion: v1, kind: Secret}", want: "type: Opaque",
		}, {
			name: "controller of old", obj: "{apiVersion: v1, kind: ReplicationController, spec: {template: {metadata: {labels: {a: b}}}}}",
			want: "{metadata: {labels: {a: b}}, spec: {replicas: 1, selector: {a: b}}}",
		}, {
			name: "endpoints", obj: "{apiVersion: v1, kind: Endpoints, subsets: [{ports: [{port: 1}]}]}",
			want: "subsets: [{ports: [{protocol: TCP}]}]",
		}, {
			name: "limit range", obj: "{apiVersion: v1, kind: LimitRange, spec: {limits: [{type: Container, max: {cpu: 2}, min: {memory: 1Mi}, default: {memory: 2Mi}}]}}",
			want: "spec: {limits: [{default: {cpu: '2', memory: 2Mi}, defaultRequest: {cpu: '2', memory: 2Mi}}]}",
		}, {
			name: "claim", obj: "{apiVersion: v1, kind: PersistentVolumeClaim}",
			want: "{spec: {volumeMode: Filesystem}, status: {phase: Pending}}",
		}, {
			name: "volume", obj: "{apiVersion: v1, kind: PersistentVolume, spec: {rbd: {image: i}}}",
			want: "spec: {volumeMode: Filesystem, persistentVolumeReclaimPolicy: Retain, rbd: {pool: rbd, user: admin, keyring: /etc/ceph/keyring}}",
		}, {
			name: "deployment", obj: "{apiVersion: apps/v1, kind: Deployment}",
			want: "spec: {replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600, strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}}",
		}, {
			name: "recreating deployment", obj: "{apiVersion: apps/v1, kind: Deployment, spec: {strategy: {type: Recreate}}}",
			want: "spec: {strategy: {rollingUpdate: null}}",
		}, {
			name: "daemon set", obj: "{apiVersion: apps/v1, kind: DaemonSet}",
			want: "spec: {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}}",
		}, {
			name: "stateful set", obj: "{apiVersion: apps/v1, kind: StatefulSet, spec: {volumeClaimTemplates: [{metadata: {name: d}}]}}",
			want: "spec: {podManagementPolicy: OrderedReady, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0, maxUnavailable: 1}}, persistentVolumeClaimRetentionPolicy: {whenDeleted: Retain, whenScaled: Retain}, volumeClaimTemplates: [{kind: PersistentVolumeClaim, status: {phase: Pending}}]}",
		}, {
			name: "stateful set with a type", obj: "{apiVersion: apps/v1, kind: StatefulSet, spec: {updateStrategy: {type: RollingUpdate}}}",
			want: "spec: {updateStrategy: {rollingUpdate: null}}",
		}, {
			name: "job", obj: "{apiVersion: batch/v1, kind: Job}",
			want: "spec: {completions: 1, parallelism: 1, backoffLimit: 6, completionMode: NonIndexed, suspend: false, manualSelector: false, podReplacementPolicy: TerminatingOrFailed}",
		}, {
			name: "work queue", obj: "{apiVersion: batch/v1, kind: Job, spec: {parallelism: 3, backoffLimitPerIndex: 1, podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}}}",
			want: "spec: {completions: null, backoffLimit: 2147483647, podReplacementPolicy: Failed, podFailurePolicy: {rules: [{onPodConditions: [{status: 'True'}]}]}}",
		}, {
			name: "cron job", obj: "{apiVersion: batch/v1, kind: CronJob}",
			want: "spec: {concurrencyPolicy: Allow, suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1, jobTemplate: {spec: {backoffLimit: null, template: {spec: {restartPolicy: Always}}}}}",
		}, {
			name: "autoscaler", obj: "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, spec: {behavior: {scaleUp: {selectPolicy: Min}}}}",
			want: `spec:
  minReplicas: 1
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
  behavior:
    scaleUp: {selectPolicy: Min, stabilizationWindowSeconds: 0, policies: [{type: Pods, value: 4, periodSeconds: 15}, {type: Percent, value: 100, periodSeconds: 15}]}
    scaleDown: {selectPolicy: Max, stabilizationWindowSeconds: null, policies: [{type: Percent, value: 100, periodSeconds: 15}]}`,
		}, {
			name: "network policy", obj: "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {egress: [{ports: [{port: 1}]}]}}",
			want: "spec: {policyTypes: [Ingress, Egress], egress: [{ports: [{protocol: TCP}]}]}",
		}, {
			name: "ingress class", obj: "{apiVersion: networking.k8s.io/v1, kind: IngressClass, spec: {parameters: {kind: K}}}",
			want: "spec: {parameters: {scope: Cluster}}",
		}, {
			name: "slice", obj: "{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, ports: [{port: 1}]}",
			want: "ports: [{name: '', protocol: TCP}]",
		}, {
			name: "storage class", obj: "{apiVersion: storage.k8s.io/v1, kind: StorageClass}",
			want: "{reclaimPolicy: Delete, volumeBindingMode: Immediate}",
		}, {
			name: "driver", obj: "{apiVersion: storage.k8s.io/v1, kind: CSIDriver}",
			want: "spec: {attachRequired: true, podInfoOnMount: false, storageCapacity: false, fsGroupPolicy: ReadWriteOnceWithFSType, volumeLifecycleModes: [Persistent], requiresRepublish: false, seLinuxMount: false}",
		}, {
			name: "role binding", obj: "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, subjects: [{kind: User}, {kind: ServiceAccount}]}",
			want: "{roleRef: {apiGroup: rbac.authorization.k8s.io}, subjects: [{apiGroup: rbac.authorization.k8s.io}, {apiGroup: null}]}",
		}, {
			name: "priority class", obj: "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass}",
			want: "preemptionPolicy: PreemptLowerPriority",
		}, {
			name: "flow schema", obj: "{apiVersion: flowcontrol.apiserver.k8s.io/v1, kind: FlowSchema}",
			want: "spec: {matchingPrecedence: 1000}",
		}, {
			name: "priority level", obj: "{apiVersion: flowcontrol.apiserver.k8s.io/v1, kind: PriorityLevelConfiguration, spec: {limited: {limitResponse: {queuing: {}}}}}",
			want: "spec: {limited: {nominalConcurrencyShares: 30, lendablePercent: 0, limitResponse: {queuing: {handSize: 8, queues: 64, queueLengthLimit: 50}}}}",
		}, {
			name: "webhook", obj: "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, webhooks: [{clientConfig: {service: {name: s}}, rules: [{resources: ['*']}]}]}",
			want: "webhooks: [{failurePolicy: Fail, matchPolicy: Equivalent, namespaceSelector: {}, objectSelector: {}, timeoutSeconds: 10, reinvocationPolicy: Never, clientConfig: {service: {port: 443}}, rules: [{scope: '*'}]}]",
		}, {
			name: "admission policy", obj: "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, spec: {matchConstraints: {resourceRules: [{resources: ['*']}]}}}",
			want: "spec: {failurePolicy: Fail, matchConstraints: {matchPolicy: Equivalent, namespaceSelector: {}, objectSelector: {}, resourceRules: [{scope: '*'}]}}",
		}, {
			name: "device claim", obj: "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, spec: {devices: {requests: [{exactly: {tolerations: [{key: k}]}}, {firstAvailable: [{allocationMode: All}]}]}}}",
			want: "spec: {devices: {requests: [{exactly: {allocationMode: ExactCount, count: 1, tolerations: [{operator: Equal}]}}, {firstAvailable: [{allocationMode: All, count: null}]}]}}",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			obj := parse(t, test.obj)
			fill(obj)
			once := tree(t, obj)
			if difference := lacks("", parseTree(t, test.want), once); difference != "" {
				t.Error(difference)
			}
			fill(obj)
			if twice := tree(t, obj); !reflect.DeepEqual(once, twice) {
				t.Errorf("filled twice it is %v, once %v", twice, once)
			}
		})
	}
}

func TestPullPolicy(t *testing.T) {
	for image, want := range map[string]string{
		"nginx":                           "Always",
		"nginx:latest":                    "Always",
		"nginx:1.27":                      "IfNotPresent",
		"localhost:5000/a/nginx":          "Always",
		"nginx@sha256:" + digest:          "IfNotPresent",
		"nginx:latest@sha256:" + digest:   "Always",
		"no such image name":              "IfNotPresent",
		"registry.example.com/Upper/case": "IfNotPresent",
	} {
		pod := parse(t, fmt.Sprintf("{apiVersion: v1, kind: Pod, spec: {containers: [{name: c, image: %q}]}}", image))
		fill(pod)
		wanted := parseTree(t, "spec: {containers: [{imagePullPolicy: "+want+"}]}")
		if difference := lacks("", wanted, tree(t, pod)); difference != "" {
			t.Errorf("%s: %s", image, difference)
		}
	}
}

const digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func parse(t *testing.T, text string) runtime.Object {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	obj := decode(string(data))
	if obj == nil {
		t.Fatalf("no kind in %s", text)
	}
	return obj
}

func parseTree(t *testing.T, text string) (v any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func tree(t *testing.T, obj runtime.Object) any {
	t.Helper()
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return parseTree(t, string(text))
}

// lacks returns where got first differs from want, "" if nowhere. Objects may
// have more fields than are wanted; null wants none.
func lacks(path string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s is %v, want %v", path, got, want)
		}
		for key := range w {
			if d := lacks(path+"."+key, w[key], g[key]); d != "" {
				return d
			}
		}
		return ""
	case []any:
		g, _ := got.([]any)
		if len(g) != len(w) {
			return fmt.Sprintf("%s is %v, want %v", path, got, want)
		}
		for i := range w {
			if d := lacks(fmt.Sprintf("%s[%d]", path, i), w[i], g[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Sprintf("%s is %v, want %v", path, got, want)
	}
	return ""
}
