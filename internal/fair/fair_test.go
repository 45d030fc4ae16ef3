package fair_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/fair"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// enter waits for a slot in the background and sends the organization when it has one.
func enter(ctx context.Context, t *testing.T, s *fair.Slots, org id.Organization, got chan<- id.Organization) {
	t.Helper()
	before := s.Waiting(org)
	go func() {
		if s.Enter(ctx, org) == nil {
			got <- org
		}
	}()
	for s.Waiting(org) == before {
		runtime.Gosched()
	}
}

func TestSlots_OrganizationsHaveTheirTurnsWhoeverCameFirst(t *testing.T) {
	t.Parallel()
	s, a, b := fair.NewSlots(1), id.New[id.Organization](), id.New[id.Organization]()
	if err := s.Enter(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	got := make(chan id.Organization)
	for _, org := range []id.Organization{a, a, a, b} {
		enter(t.Context(), t, s, org, got)
	}
	holder := a
	for i, want := range []id.Organization{a, b, a, a} {
		s.Leave(holder)
		if holder = <-got; holder != want {
			t.Errorf("turn %d is the other one's", i)
		}
	}
	s.Leave(holder)
}

func TestSlots_ALineIsBoundedForEachOrganization(t *testing.T) {
	t.Parallel()
	s, a, b := fair.NewBoundedSlots(1, 2), id.New[id.Organization](), id.Organization{}
	if err := s.Enter(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	got := make(chan id.Organization)
	leaving, leave := context.WithCancel(t.Context())
	enter(leaving, t, s, a, got)
	enter(t.Context(), t, s, a, got)
	if err := s.Enter(t.Context(), a); !errors.Is(err, fair.ErrFull) {
		t.Errorf("the third who waits: %v", err)
	}
	enter(t.Context(), t, s, b, got) // the zero organization has a line of its own
	leave()
	s.Leave(a)
	for range 2 { // the slot of the one who has left goes on to the others
		s.Leave(<-got)
	}
	if err := s.Enter(t.Context(), a); err != nil {
		t.Error(err)
	}
}

func TestRota_ATurnCanLeaveItsItem(t *testing.T) {
	t.Parallel()
	var r fair.Rota[int]
	a, b := id.New[id.Organization](), id.New[id.Organization]()
	all := func(id.Organization) bool { return true }
	if _, ok := r.Turn(all); ok || r.First(a) != nil {
		t.Error("an empty one has a turn")
	}
	r.Add(a, 1)
	r.Add(a, 2)
	r.Add(b, 3)
	for i, want := range []id.Organization{a, b, a} {
		if org, ok := r.Turn(all); !ok || org != want {
			t.Errorf("turn %d is the other one's", i)
		}
	}
	if org, ok := r.Turn(func(org id.Organization) bool { return org == a }); !ok || org != a {
		t.Error("the one that may has no turn")
	}
	*r.First(a) += 10
	for i, want := range []int{3, 11, 2} {
		if _, item, ok := r.Next(nil); !ok || item != want {
			t.Errorf("item %d is %d, want %d", i, item, want)
		}
	}
}
