package contract

import (
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
)

// setMetadata fails the test when the server refuses the metadata.
func (k *kit) setMetadata(t *testing.T, s string, expected esdb.ExpectedRevision, change func(*esdb.StreamMetadata)) {
	t.Helper()
	m := esdb.StreamMetadata{}
	change(&m)
	if _, err := k.client.SetStreamMetadata(within(t), s, esdb.AppendToStreamOptions{ExpectedRevision: expected},
		m); err != nil {
		t.Fatal(err)
	}
}

// testMetadata covers stream metadata and the events that they hide.
func testMetadata(t *testing.T, k *kit) {
	five := func(t *testing.T) string {
		s := stream("meta")
		k.append(t, s, esdb.NoStream{}, several("a", "b", "c", "d", "e")...)
		return s
	}
	t.Run("the newest is read back", func(t *testing.T) { t.Parallel(); metadataNewest(t, k) })
	t.Run("max count", func(t *testing.T) {
		t.Parallel()
		s := five(t)
		k.setMetadata(t, s, esdb.NoStream{}, func(m *esdb.StreamMetadata) { m.SetMaxCount(2) })
		k.wantRevisions(t, s, 3, 4)
		k.append(t, s, esdb.Revision(4), event("f"))
		k.wantRevisions(t, s, 4, 5)
		got, err := k.read(t, s, esdb.ReadStreamOptions{Direction: esdb.Backwards, From: esdb.End{}}, 10)
		if err != nil || len(got) != 2 {
			t.Errorf("backwards: %v, %v", revisions(got), err)
		}
		got, err = k.read(t, s, esdb.ReadStreamOptions{From: esdb.Revision(1)}, 1)
		if err != nil || len(got) != 1 || got[0].Event.EventNumber != 4 {
			t.Errorf("from a truncated revision: %v, %v", revisions(got), err)
		}
	})
	t.Run("truncate before", func(t *testing.T) {
		t.Parallel()
		s := five(t)
		k.setMetadata(t, s, esdb.Any{}, func(m *esdb.StreamMetadata) { m.SetTruncateBefore(3) })
		k.wantRevisions(t, s, 3, 4)
		k.setMetadata(t, s, esdb.Any{}, func(m *esdb.StreamMetadata) { m.SetTruncateBefore(9) })
		k.wantRevisions(t, s) // empty, but not missing
	})
	t.Run("max age", func(t *testing.T) {
		t.Parallel()
		s := five(t)
		k.setMetadata(t, s, esdb.Any{}, func(m *esdb.StreamMetadata) { m.SetMaxAge(time.Hour) })
		k.wantRevisions(t, s, 0, 1, 2, 3, 4)
	})
	t.Run("all still shows what is hidden", func(t *testing.T) {
		t.Parallel()
		s := stream("meta")
		first := k.append(t, s, esdb.NoStream{}, event("a")).CommitPosition
		k.append(t, s, esdb.Any{}, event("b"))
		k.setMetadata(t, s, esdb.Any{}, func(m *esdb.StreamMetadata) { m.SetMaxCount(1) })
		got := k.readAll(t, esdb.ReadAllOptions{From: esdb.Position{Commit: first, Prepare: first}}, 1)
		if len(got) != 1 || got[0].Event.StreamID != s {
			t.Errorf("got %v", got)
		}
	})
	t.Run("metadata alone makes no stream", func(t *testing.T) {
		t.Parallel()
		s := stream("meta")
		k.setMetadata(t, s, esdb.NoStream{}, func(m *esdb.StreamMetadata) { m.SetMaxCount(7) })
		_, err := k.read(t, s, esdb.ReadStreamOptions{}, 1)
		wantCode(t, err, esdb.ErrorCodeResourceNotFound)
		k.append(t, s, esdb.StreamExists{}, event("a")) // but StreamExists accepts it
	})
}

// metadataNewest: the client reads $$stream forwards from the start and must get the newest metadata.
func metadataNewest(t *testing.T, k *kit) {
	s := stream("meta")
	k.append(t, s, esdb.NoStream{}, event("a"))
	for n := uint64(1); n <= 3; n++ {
		expected := esdb.ExpectedRevision(esdb.NoStream{})
		if n > 1 {
			expected = esdb.Revision(n - 2)
		}
		k.setMetadata(t, s, expected, func(m *esdb.StreamMetadata) {
			m.SetMaxCount(n)
			m.SetMaxAge(time.Duration(n) * time.Hour)
			m.SetTruncateBefore(0)
			m.SetCacheControl(time.Minute)
			m.SetAcl(esdb.UserStreamAcl)
			m.AddCustomProperty("colour", "blue")
		})
	}
	got, err := k.client.GetStreamMetadata(within(t), s, esdb.ReadStreamOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if *got.MaxCount() != 3 || *got.MaxAge() != 3*time.Hour || *got.CacheControl() != time.Minute ||
		got.CustomProperties()["colour"] != "blue" {
		t.Errorf("got %+v", got)
	}
	k.wantRevisions(t, "$$"+s, 2)
}
