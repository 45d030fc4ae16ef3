package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
)

// hidingStream is the model of a stream that one writer changes while its log is scavenged.
type hidingStream struct {
	name     string
	ids      []uuid.UUID // by revision
	mayBeOut []bool      // was hidden while it was not the last: it may have been removed
	before   int64       // $tb; the greatest number = deleted
	maxCount int64
	ended    bool
}

// shows reports whether a reader may see an event.
func (s *hidingStream) shows(revision int64) bool {
	last := int64(len(s.ids)) - 1
	return !s.ended && s.before != math.MaxInt64 && revision >= s.before &&
		(s.maxCount == 0 || revision > last-s.maxCount)
}

// settle notes what can be removed from now on.
func (s *hidingStream) settle() {
	for i := range len(s.ids) - 1 {
		s.mayBeOut[i] = s.mayBeOut[i] || !s.shows(int64(i))
	}
}

// act makes one random change through the client, and the same in the model.
func (s *hidingStream) act(ctx context.Context, client *esdb.Client, random *rand.Rand) (err error) {
	last := int64(len(s.ids)) - 1
	anyRevision := esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}
	switch choice := random.IntN(20); {
	case last < 0 || choice < 9:
		list := several(1 + random.IntN(3))
		at := esdb.AppendToStreamOptions{ExpectedRevision: esdb.NoStream{}}
		if last >= 0 {
			at.ExpectedRevision = esdb.Revision(uint64(last))
		}
		_, err = client.AppendToStream(ctx, s.name, at, list...)
		for i := range list {
			s.ids, s.mayBeOut = append(s.ids, list[i].EventID), append(s.mayBeOut, false)
		}
		if s.before == math.MaxInt64 {
			s.before = last + 1
		}
	case choice < 12:
		_, err = client.DeleteStream(ctx, s.name, esdb.DeleteStreamOptions{ExpectedRevision: esdb.Any{}})
		s.before, s.maxCount = math.MaxInt64, 0
	case choice < 19:
		m, deleted := esdb.StreamMetadata{}, s.before == math.MaxInt64
		s.before, s.maxCount = 0, 0
		if random.IntN(2) == 0 {
			s.maxCount = 1 + random.Int64N(6)
			m.SetMaxCount(uint64(s.maxCount))
		}
		if random.IntN(2) == 0 {
			s.before = 1 + random.Int64N(last+3)
			m.SetTruncateBefore(uint64(s.before))
		}
		if deleted { // it comes back without its events
			s.before = last + 1
		}
		_, err = client.SetStreamMetadata(ctx, s.name, anyRevision, m)
	case random.IntN(4) == 0:
		_, err = client.TombstoneStream(ctx, s.name, esdb.TombstoneStreamOptions{ExpectedRevision: esdb.Any{}})
		s.ended = true
	}
	s.settle()
	return err
}

// read compares what a reader gets with the model, and gives the revisions.
func (s *hidingStream) read(ctx context.Context, client *esdb.Client) (got map[int64]bool, err error) {
	list, err := received(client.ReadStream(ctx, s.name, esdb.ReadStreamOptions{}, math.MaxUint64))
	var known *esdb.Error
	if err != nil && !(errors.As(err, &known) && len(list) == 0 && (s.ended || s.before == math.MaxInt64)) {
		return nil, err
	}
	got = map[int64]bool{}
	for _, e := range list {
		revision := int64(e.Event.EventNumber)
		if !s.shows(revision) || s.ids[revision] != e.Event.EventID {
			return nil, fmt.Errorf("event %d of %s is shown as %s", revision, s.name, e.Event.EventID)
		}
		got[revision] = true
	}
	for i := range s.ids {
		if s.shows(int64(i)) && !s.mayBeOut[i] && !got[int64(i)] {
			return nil, fmt.Errorf("event %d of %d of %s has disappeared", i, len(s.ids), s.name)
		}
	}
	return got, nil
}

// hidingStorm changes streams, one after another for each that ends, and gives their models.
func hidingStorm(
	ctx context.Context, t *testing.T, client *esdb.Client, name string, random *rand.Rand,
) []*hidingStream {
	t.Helper()
	list := []*hidingStream{{name: name}}
	for n := range 150 {
		s := list[len(list)-1]
		if s.ended {
			s = &hidingStream{name: fmt.Sprint(name, "-", len(list))}
			list = append(list, s)
		}
		err := s.act(ctx, client, random)
		if err == nil {
			_, err = s.read(ctx, client)
		}
		if err != nil {
			t.Errorf("change %d of %s: %v", n, s.name, err)
			break
		}
	}
	return list
}

// inOrder subscribes to $all and checks that the positions of events increase, until the stream "end" has one.
func inOrder(ctx context.Context, t *testing.T, client *esdb.Client, o esdb.SubscribeToAllOptions) {
	t.Helper()
	o.From = esdb.Start{}
	sub, err := client.SubscribeToAll(ctx, o)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = sub.Close() }()
	for last := uint64(0); ; {
		e := sub.Recv()
		if e.SubscriptionDropped != nil {
			t.Errorf("a subscription ends at %d: %v", last, e.SubscriptionDropped.Error)
			return
		}
		if e.EventAppeared == nil {
			continue
		}
		if at := e.EventAppeared.Event.Position.Commit; at > last {
			last = at
		} else {
			t.Errorf("position %d after %d", at, last)
		}
		if e.EventAppeared.Event.StreamID == "end" {
			return
		}
	}
}

// TestScavenge_BesideWritersNothingVisibleDisappears: appends, deletes, ends and metadata that hides and shows, while
// pass follows pass, and subscribers go on. Afterwards nothing is left that nobody sees, but the last events.
func TestScavenge_BesideWritersNothingVisibleDisappears(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	ctx, cancel := context.WithTimeout(t.Context(), stormLimit)
	defer cancel()
	var writers, passes, readers sync.WaitGroup
	done := make(chan struct{})
	readers.Go(func() { inOrder(ctx, t, client, esdb.SubscribeToAllOptions{}) })
	readers.Go(func() {
		inOrder(ctx, t, client, esdb.SubscribeToAllOptions{Filter: &esdb.SubscriptionFilter{
			Type: esdb.EventFilterType, Prefixes: []string{"e"},
		}})
	})
	passes.Go(func() {
		for !isClosed(done) && !t.Failed() {
			if err := embedded.Scavenge(ctx, n, nil); err != nil {
				t.Error(err)
			}
		}
	})
	streams := make([][]*hidingStream, 8)
	for i := range streams {
		writers.Go(func() {
			streams[i] = hidingStorm(ctx, t, client, fmt.Sprint("hiding-", i), rand.New(rand.NewPCG(seed, uint64(i))))
		})
	}
	writers.Wait()
	mustAppend(t, client, "end", esdb.NoStream{}, oneEvent())
	readers.Wait()
	close(done)
	passes.Wait()
	if t.Failed() {
		return
	}
	beside := n.Scavenged()
	for _, s := range slices.Concat(streams...) {
		before, err := s.read(ctx, client)
		if err != nil {
			t.Fatal(err)
		}
		scavenge(t, n)
		after, err := s.read(ctx, client)
		if err != nil || len(after) != len(before) {
			t.Errorf("%s has %d events, before the pass %d, %v", s.name, len(after), len(before), err)
		}
		s.wantRows(t, cfg, after)
	}
	if beside.Events == 0 {
		t.Error("nothing was removed beside the writers")
	}
	t.Logf("%+v were removed beside the writers", beside)
}

// wantRows checks that the log has no more of a stream than what is seen of it, and its last event.
func (s *hidingStream) wantRows(t *testing.T, cfg embedded.Config, seen map[int64]bool) {
	t.Helper()
	want := len(seen)
	if s.ended || len(s.ids) > 0 && !seen[int64(len(s.ids))-1] {
		want++
	}
	if left := countOf(t, cfg, fmt.Sprintf(`name = '%s'`, s.name)); left != want {
		t.Errorf("%s has %d rows, want %d", s.name, left, want)
	}
	if left := countOf(t, cfg, fmt.Sprintf(`name = '$$%s'`, s.name)); left > 1 {
		t.Errorf("the metadata of %s has %d rows", s.name, left)
	}
}
