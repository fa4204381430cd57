package guard

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// lockWait is how long the session log and record wait for their lock (section 11 of the policy documents: 200 ms).
const lockWait = 200 * time.Millisecond

// waitFor tries until it works or the time is over.
func waitFor(limit time.Duration, try func() bool) bool {
	if try() {
		return true
	}
	for until := time.Now().Add(limit); time.Now().Before(until); {
		time.Sleep(2 * time.Millisecond)
		if try() {
			return true
		}
	}
	return false
}

// slot takes one of n places of a named group and gives it back with the function it returns. It waits until ctx ends.
func slot(ctx context.Context, dir, group string, n int) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	name := fileKey(group)
	for {
		for i := range n {
			f, err := os.OpenFile(filepath.Join(dir, name+"."+strconv.Itoa(i)), os.O_RDWR|os.O_CREATE|noFollow, 0o600)
			if err != nil {
				return nil, err
			}
			if tryLock(f) {
				return func() { _ = f.Close() }, nil // closing gives the lock up
			}
			_ = f.Close()
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
