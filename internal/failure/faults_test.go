package failure_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

func TestJoinFaults_TellsTheFirstOfEachFieldUnlessSomethingElseFailed(t *testing.T) {
	t.Parallel()
	name := failure.NewInvalid("invalid_input", "name must not be empty", "name must have at most 9 bytes")
	again := failure.NewInvalid("invalid_input", "name is odd", "slug is a reserved word")
	var got *failure.Error
	if err := failure.JoinFaults(nil, name, again); !errors.As(err, &got) || got.Kind != failure.Invalid ||
		!slices.Equal(
			got.Faults, []string{
				"name must not be empty", "name must have at most 9 bytes", "slug is a reserved word",
			}) {
		t.Errorf("%v", err)
	}
	other := failure.NewConflict("slug_taken", "This slug is taken.")
	if err := failure.JoinFaults(name, other); !errors.Is(err, other) {
		t.Errorf("another kind: %v", err)
	}
	if err := failure.JoinFaults(nil, nil); err != nil {
		t.Errorf("nothing: %v", err)
	}
}

func TestUnder_NamesFieldsOfAPart(t *testing.T) {
	t.Parallel()
	var got *failure.Error
	err := failure.Under("admin.", failure.NewInvalid("invalid_input", "email must be an e-mail address"))
	if !errors.As(err, &got) || !slices.Equal(got.Faults, []string{"admin.email must be an e-mail address"}) {
		t.Errorf("%v", err)
	}
	if err := failure.Under("admin.", nil); err != nil {
		t.Errorf("nothing: %v", err)
	}
	lost := errors.New("lost")
	if err := failure.Under("admin.", lost); !errors.Is(err, lost) {
		t.Errorf("no failure: %v", err)
	}
}
