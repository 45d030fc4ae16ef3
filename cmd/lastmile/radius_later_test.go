package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/journal"
)

// TestRadius_PortsThatCannotBeOpenedLaterEndTheProgram: as at the start, so that it is started again and tries again.
func TestRadius_PortsThatCannotBeOpenedLaterEndTheProgram(t *testing.T) {
	t.Parallel()
	for setting, fault := range map[string]error{
		"RADIUS_AUTH_ADDR": syscall.EADDRINUSE, "DATA_DIR": journal.ErrTaken,
	} {
		a := &App{life: newLifecycle(slog.New(slog.DiscardHandler))}
		p := &radiusParts{fail: func(err error) { a.life.fail(a.cannotAnswer(err)) }}
		complete := func() bool { return true }
		stopped, stop := context.WithCancel(t.Context())
		p.openLater(stopped, complete, func(context.Context) error { stop(); return context.Canceled })
		p.openLater(t.Context(), complete, func(context.Context) error { return nil })
		select {
		case err := <-a.life.fatal:
			t.Errorf("nothing has failed, and the program ends: %v", err)
		default:
		}
		p.openLater(t.Context(), complete, func(context.Context) error { return fault })
		if err := a.Wait(t.Context()); !errors.Is(err, fault) || !strings.HasPrefix(err.Error(), setting) {
			t.Errorf("the program ends with %v, want %v", err, fault)
		}
	}
}
