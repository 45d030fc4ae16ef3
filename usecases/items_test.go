package usecases_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
)

// worked calls do for three items of a batch.
func worked(ctx context.Context, do func(i int) error) ([]string, error) {
	return usecases.EachItem(ctx, usecases.Items{
		Logger: slog.New(slog.DiscardHandler), Batch: id.New[id.Batch](), Crew: 2,
	}, []id.Any{id.New[id.Any](), id.New[id.Any](), id.New[id.Any]()}, do)
}

func TestEachItem_WhatIsWrongWithOneStopsNoOther(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want string
		do   func() error
	}{
		{"internal", func() error { return errors.New("an event that cannot be read") }},
		{"internal", func() error { panic("an amount of another currency") }},
		{"paid_since", func() error { return failure.NewConflict("paid_since", "It was paid.") }},
		{"malformed", func() error { return failure.NewMalformed("malformed", "It cannot be read.") }},
	} {
		codes, err := worked(t.Context(), func(i int) error {
			if i == 0 {
				return c.do()
			}
			return nil
		})
		if err != nil || !slices.Equal(codes, []string{c.want, "", ""}) {
			t.Errorf("want %s, have %q, %v", c.want, codes, err)
		}
	}
}

func TestEachItem_AnOutageEndsThePart(t *testing.T) {
	t.Parallel()
	for _, away := range []error{
		failure.NewUnavailable("eventstore_unavailable", "It is away.", 0, nil), context.DeadlineExceeded,
		failure.NewConflict("concurrent_change", "Another change came first."),
	} {
		codes, err := worked(t.Context(), func(int) error { return away })
		if !errors.Is(err, away) || codes != nil {
			t.Errorf("want %v, have %q, %v", away, codes, err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	if _, err := worked(ended, func(int) error { end(); return errors.New("nothing can be read") }); err == nil {
		t.Error("a part whose time is over is recorded")
	}
}
