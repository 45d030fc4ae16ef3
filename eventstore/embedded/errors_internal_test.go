package embedded

import (
	"errors"
	"strings"
	"testing"
)

func TestRefusal_EveryStreamNameFitsATrailer(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"account-1": "account-1", "with space~": "with space~", "caf\u00e9": "caf%C3%A9", "a\nb\x7f": "a%0Ab%7F",
	} {
		var r *refusal
		if !errors.As(streamDeleted(name), &r) {
			t.Fatalf("%q: no refusal", name)
		}
		if got := r.metadata().Get("stream-name"); len(got) != 1 || got[0] != want {
			t.Errorf("%q is told as %q; want %q", name, got, want)
		}
	}
}

func TestRefusal_AnErrorOfOurOwnIsNamed(t *testing.T) {
	t.Parallel()
	if err := ownRefusal(errors.New("a fault")); !strings.HasSuffix(err.Error(), ": a fault") {
		t.Errorf("told is %q", err)
	}
}
