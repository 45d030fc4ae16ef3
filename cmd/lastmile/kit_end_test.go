package main

import (
	"context"
	"runtime"
	"testing"
)

// TestAtEnd_LetsGoOfWhatATestHad while another test, which began beside it, still runs.
func TestAtEnd_LetsGoOfWhatATestHad(t *testing.T) {
	gone := make(chan struct{})
	t.Run("side by side", func(t *testing.T) {
		t.Run("ends", func(t *testing.T) {
			t.Parallel()
			had := new([1 << 10]byte)
			runtime.AddCleanup(had, func(gone chan struct{}) { close(gone) }, gone)
			atEnd(t, func() { had[0]++ })
		})
		t.Run("still runs", func(t *testing.T) {
			t.Parallel()
			k := &kit{t: t}
			k.eventually("what the other one had to be gone", func(context.Context) (bool, error) {
				runtime.GC()
				select {
				case <-gone:
					return true, nil
				default:
					return false, nil
				}
			})
		})
	})
}
