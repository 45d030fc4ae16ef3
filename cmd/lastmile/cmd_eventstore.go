package main

import (
	"context"
	"fmt"
	"os"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// eventstoreCommand is `lastmile eventstore`: the node alone, for several replicas of the program.
type eventstoreCommand struct{}

// Run serves the log at EVENTSTORE_ADDR until a signal or until the right to write is lost.
func (eventstoreCommand) Run(ctx context.Context, p program) error {
	cfg, err := p.config()
	if err != nil {
		return err
	}
	if cfg.EventStoreURL != "" {
		return fmt.Errorf("EVENTSTORE_URL: names another event store; this command is one itself")
	}
	if cfg.Production() && !cfg.nodeGuarded() {
		return fmt.Errorf("EVENTSTORE_TLS_CERT_FILE: %s", wantsGuard)
	}
	l := newLifecycle(p.logger(cfg))
	defer l.stop()
	s := &storage{}
	if err := s.openDatabase(ctx, cfg, l, storageMode{patient: true, awaits: true}, runtimeFile{}); err != nil {
		return err
	}
	if err := s.startNode(ctx, cfg, clock.System(), l); err != nil {
		return err
	}
	r := runtimeFile{PID: os.Getpid(), EventStore: s.nodeURL, Installation: installation(cfg)}
	if s.cluster != nil {
		r.Database = s.cluster.URL()
	}
	r.show(ctx, cfg.DataDir, l)
	if _, err := fmt.Fprintln(p.out, s.nodeURL); err != nil {
		return err
	}
	return l.wait(ctx)
}
