// Package noderesources holds the plugins about cpu, memory, ephemeral storage,
// extended resources and the number of pods: Fit keeps pods off nodes with too
// little left and prefers some of the rest, BalancedAllocation prefers nodes
// where cpu and memory would be used alike.
package noderesources
