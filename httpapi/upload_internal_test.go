package httpapi

import (
	"bytes"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// TestUploads_OneOrganizationHasAtMostHalfOfTheMemory, and what it has is free again when it has left.
func TestUploads_OneOrganizationHasAtMostHalfOfTheMemory(t *testing.T) {
	t.Parallel()
	all, large := newUploads(), bytes.Repeat([]byte("a"), 97<<20)
	a, err := all.enter(id.New[id.Organization]())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.readLarge(bytes.NewReader(large), 1<<30); failure.CodeOf(err) != "uploads_full" {
		t.Errorf("more than half: %v", err)
	}
	b, err := all.enter(id.New[id.Organization]())
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1, 1<<20 - 1, 1 << 20, 1<<20 + 1, 5 << 20} {
		b.leave()
		if b, err = all.enter(b.org); err != nil {
			t.Fatal(err)
		}
		got, err := b.readLarge(bytes.NewReader(large[:size]), int64(size))
		if err != nil || len(got) != size || b.held > int64(size)+512 {
			t.Errorf("%d bytes: %d in %d, %v", size, len(got), b.held, err)
		}
	}
	a.leave()
	b.leave()
	if all.room.Used() != 0 || len(all.open) != 0 {
		t.Errorf("%d bytes of %d are held", all.room.Used(), len(all.open))
	}
}
