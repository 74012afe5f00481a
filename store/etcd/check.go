package etcd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// lockTimeout is how long to wait for a real etcd to let go of the database.
const lockTimeout = 200 * time.Millisecond

// checkDatabase visits all pages of the database file. A damaged one is found
// here, where it is an error, and not by a goroutine of etcd, where it would
// end the process.
func checkDatabase(path string) (err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	// Pages behind the end of a file that was cut off are memory faults.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("database file %s is damaged: %v", path, p)
		}
	}()
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true, Timeout: lockTimeout})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return fmt.Errorf("database file %s is in use by an etcd server: %w", path, err)
	}
	if err != nil {
		return fmt.Errorf("database file %s: %w", path, err)
	}
	defer db.Close()
	return db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(_ []byte, bucket *bolt.Bucket) error {
			bucket.Stats()
			return nil
		})
	})
}
