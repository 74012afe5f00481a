// Package pki keeps the keys and certificates of a cluster: the authority that
// signs, what the API server shows to its clients, what a client shows to the
// API server, and the key that signs the tokens of ServiceAccounts.
//
// They are made at the first start, kept in a directory that only its owner can
// read, and made anew when they are about to expire. A new authority makes all
// certificates new.
package pki
