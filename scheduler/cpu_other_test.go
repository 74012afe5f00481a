//go:build !unix

package scheduler_test

import (
	"testing"
	"time"
)

func cpu(testing.TB) time.Duration { return 0 }
