// Package lesson runs the lessons of docs/lessons: each on a cluster of its own,
// which ends with it. Parse reads a text, Start makes the cluster, Session.Run runs
// the commands of a step, and Play leads a person through all of it.
//
// A lesson is Markdown. Its front matter says what the cluster is like; each heading
// of the second level begins a step. A step has at most one block of commands, and a
// list of choices if it asks for a prediction. Comments after the block are checked
// against what the commands really print:
//
//	<!-- expect: TEXT -->        TEXT is in it; as many as there are
//	<!-- answer: b, as: TEXT --> choice b is right, as TEXT in it shows
//
// Commands run in the simulated container runtime of the fakelet: its shell and
// tools, with kubectl, kubesim and a curl that reaches this cluster and nothing else.
// Server gives lessons to the page in the same way.
package lesson
