package main

import (
	"context"
	"fmt"
	"os"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// eventstoreCommand is `lastmile eventstore`: the node alone, for several replicas of the program.
type eventstoreCommand struct {
	Standby bool `help:"Wait while another node has the log, and take over when it ends."`
}

// Run serves the log at EVENTSTORE_ADDR until a signal or until the right to write is lost.
func (c eventstoreCommand) Run(ctx context.Context, p program) error {
	cfg, err := p.config()
	if err != nil {
		return err
	}
	cfg.Standby = cfg.Standby || c.Standby
	if err := checkStandby(cfg); err != nil {
		return err
	}
	if cfg.EventStoreURL != "" {
		return fmt.Errorf("EVENTSTORE_URL: names another event store; this command is one itself")
	}
	if cfg.Production() && !cfg.nodeGuarded() {
		return fmt.Errorf("EVENTSTORE_TLS_CERT_FILE: %s", wantsGuard)
	}
	logger, pause := p.logger(cfg), retrying()
	for {
		l := newLifecycle(logger)
		s, err := eventstoreAlone(ctx, cfg, l)
		if err == nil {
			defer l.stop()
			return serveEventstore(ctx, p, cfg, l, s)
		}
		l.stop()
		if ctx.Err() != nil {
			return errInterrupted
		}
		if passing(err) == nil {
			return err
		}
		logger.WarnContext(ctx, "the start is tried again", "error", err, "retry_in", pause.Pause())
		pause.Wait(ctx)
	}
}

// eventstoreAlone starts the node and what it needs.
func eventstoreAlone(ctx context.Context, cfg Config, l *lifecycle) (*storage, error) {
	s, at := &storage{}, newStartSteps(l.logger)
	defer at.watch(ctx)()
	mode := storageMode{patient: true, awaits: true, steps: at}
	if err := s.openDatabase(ctx, cfg, l, mode, runtimeFile{}); err != nil {
		return nil, err
	}
	at.begin("postgres", "opening the event store")
	return s, s.startNode(ctx, cfg, clock.System(), l, waitsInLine(cfg, at, nil))
}

// serveEventstore tells the address of the node, and waits for the end.
func serveEventstore(ctx context.Context, p program, cfg Config, l *lifecycle, s *storage) error {
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
