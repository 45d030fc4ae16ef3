package coretest_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// recorder counts the errors that a check reports.
type recorder struct {
	testing.TB
	errors int
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.errors++ }

func TestRefused_WantsTheCodeAndWithoutOneNoFailure(t *testing.T) {
	t.Parallel()
	taken := fmt.Errorf("register: %w", failure.NewConflict("slug_taken", "Taken."))
	for _, c := range []struct {
		err     error
		code    string
		reports int
	}{
		{taken, "slug_taken", 0}, {taken, "", 1}, {taken, "other", 1}, {nil, "slug_taken", 1}, {nil, "", 0},
		{errors.New("broken"), "", 1},
	} {
		r := &recorder{}
		if coretest.Refused(r, "try", c.err, c.code); r.errors != c.reports {
			t.Errorf("%v, wanted %q: %d reports", c.err, c.code, r.errors)
		}
	}
}

func TestAtOnce_RunsAllAtTheSameTimeAndKeepsTheOrder(t *testing.T) {
	t.Parallel()
	meet := make(chan struct{})
	errs := coretest.AtOnce(2, func(n int) error {
		if n == 0 {
			close(meet)
			return failure.NewConflict("slug_taken", "Taken.")
		}
		<-meet // never ends unless the other runs
		return errors.New("broken")
	})
	if failure.CodeOf(errs[0]) != "slug_taken" || errs[1] == nil {
		t.Errorf("%v", errs)
	}
	if got := coretest.Codes(append(errs, nil)); !slices.Equal(got, []string{"broken", "slug_taken"}) {
		t.Errorf("codes %v", got)
	}
}
