// Package vfs is a file system in memory: what a simulated container sees as its
// disk. Nothing of the machine that kubesim runs on is in it, and the package
// has no way to get there.
//
// A Tree is a hierarchy of files, such as an image or a volume. An FS is the view
// of a container: the tree of its image with other trees mounted into it. Trees
// may be mounted in several places, so containers of a pod share an emptyDir.
//
// Guarantees:
//
//   - The tree that an image is made of is shared by all its containers and never
//     changes: a directory is copied before the first write below it.
//   - A tree holds no more bytes than its limit; more is ErrNoSpace.
//   - Paths can't leave the tree: ".." stops at its root, and links are followed
//     inside it, at most 40 in a row.
package vfs
