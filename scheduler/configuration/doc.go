// Package configuration reads what a kube-scheduler reads: files of
// kubescheduler.config.k8s.io/v1, whose profiles say which plugins run for the
// pods of a schedulerName, with which weights and arguments.
//
// Taken into account: profiles, extenders, percentageOfNodesToScore, the
// back-off of pods, leaderElection, and clientConnection's kubeconfig, qps and
// burst. Unlike in kube-scheduler, the client has no limits unless the file
// gives some. What has no counterpart here, such as parallelism, is accepted.
package configuration
