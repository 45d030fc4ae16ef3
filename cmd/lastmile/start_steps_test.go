package main

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// TestSteps_OneThatTakesLongIsToldOnceAMinute: the others are not.
func TestSteps_OneThatTakesLongIsToldOnceAMinute(t *testing.T) {
	t.Parallel()
	c, log := clock.NewManual(time.Now()), &logBuffer{}
	s := &startSteps{clock: c, logger: slog.New(slog.NewJSONHandler(log, nil))}
	second := func(seconds int) {
		for range seconds {
			s.tell(t.Context())
			c.Advance(time.Second)
		}
	}
	second(10) // nothing has begun
	for range 20 {
		s.begin("postgres", "opening the vault")
		second(5)
	}
	if got := log.String(); got != "" {
		t.Errorf("steps that take 5 s are told: %s", got)
	}
	s.begin("start", "filling the memory")
	second(130)
	if got := log.String(); strings.Count(got, "\n") != 3 || strings.Count(got, "filling the memory, for ") != 3 {
		t.Errorf("one that takes 130 s: %s", got)
	}
	if slow := s.slow(); slow == nil || slow.part != "start" ||
		slow.why != "The start is slow: filling the memory, for 2m10s so far." {
		t.Errorf("it is shown as %+v", slow)
	}
	s.watched(func() error {
		return failure.NewUnavailable("database_silent", "The database does not answer.", 0, nil)
	})
	if slow := s.slow(); slow == nil || slow.part != "writes" ||
		!strings.HasPrefix(slow.why, "The database does not answer. The start is slow: filling the memory") {
		t.Errorf("while the database is away it is shown as %+v", slow)
	}
	s.begin("start", "the next one")
	if slow := s.slow(); slow != nil {
		t.Errorf("one that has just begun is shown as %+v", slow)
	}
}

// TestStart_SaysAtWhichStepItHangs: the database takes connections and answers them, and one statement waits for ever.
func TestStart_SaysAtWhichStepItHangs(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	conn, err := k.db.Owner.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	lock := "begin; lock table " + k.db.Namespace.Schema("vault") + ".goose_version in access exclusive mode"
	if _, err := conn.Exec(t.Context(), lock); err != nil {
		t.Fatal(err)
	}
	k.launch(freePort(t))
	k.eventually("the step", func(ctx context.Context) (bool, error) {
		_, err := k.client("").call(ctx, http.MethodGet, "/readyz", "", nil)
		no := asAPIError(err)
		return no != nil && no.Status == http.StatusServiceUnavailable && strings.Contains(no.Body,
			`"postgres":{"status":"down","detail":"The start is slow: opening the vault, for `), err
	})
	k.eventually("its line", func(context.Context) (bool, error) {
		return strings.Contains(k.log.String(), `"the start is slow","part":"postgres"`), nil
	})
	if _, err := conn.Exec(t.Context(), "rollback"); err != nil {
		t.Fatal(err)
	}
	k.eventually("service to be ready", func(context.Context) (bool, error) {
		return k.statusOf(k.client(""), "/readyz") == http.StatusOK, nil
	})
}
