// Package fieldmanager keeps metadata.managedFields: which client set which field
// of an object, by plain writes and by server-side apply.
//
// Server-side apply is that of k8s.io/apimachinery/pkg/util/managedfields. Plain
// writes, which are all but a few, give the same entries by a shorter way:
//
//   - Only what differs between the old object and the new one is looked at
//     (sparse.go). A status update of a pod costs what its status costs.
//   - Entries that the write does not touch keep their bytes, and sets of fields
//     that were read once are kept (sets.go): a thousand pods of a ReplicaSet have
//     the same few.
//
// An entry in another version of the kind, or more writers than an object keeps
// entries for, send a write the library's way (manager.go). A test compares both ways.
//
// The schema of the built-in types, which says where lists are sets or maps and what
// is owned as a whole, is types.txt: client-go's, in a form that costs a millisecond
// to read where the YAML in it costs fifty. It is read at the first write.
package fieldmanager
