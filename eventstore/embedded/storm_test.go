package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"
)

// stormLimit is the time limit for all calls of a storm.
const stormLimit = 90 * time.Second

// storm writes with many concurrent writers through the stock client, each to a stream of its own with exact revisions.
// It repeats an append whose outcome is unknown. At the end every acknowledged append must be in the log exactly once.
type storm struct {
	t       *testing.T
	ctx     context.Context
	url     string
	acked   atomic.Int64
	signals chan int64 // the count of acknowledged appends, when it passes a multiple of 50
	writers sync.WaitGroup
	done    chan struct{}

	mu      sync.Mutex
	streams map[string][]ack
	faults  int // failed attempts, which were repeated
}

// ack is one acknowledged append of one event, as the server answered it.
type ack struct {
	id       uuid.UUID
	position uint64
}

// stormClient is a stock client that looks for the node long enough to survive the outages of the tests.
func stormClient(t testing.TB, url string) *esdb.Client {
	t.Helper()
	config, err := esdb.ParseConnectionString(url +
		"&maxDiscoverAttempts=1000&discoveryInterval=20&defaultDeadline=5000")
	if err != nil {
		t.Fatal(err)
	}
	config.Logger = esdb.NoopLogging()
	client, err := esdb.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// newStorm starts the writers; end must be called.
func newStorm(t *testing.T, url string, writers int) *storm {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), stormLimit)
	s := &storm{
		t: t, ctx: ctx, url: url, signals: make(chan int64, 1000), done: make(chan struct{}),
		streams: map[string][]ack{},
	}
	client := stormClient(t, url)
	t.Cleanup(func() { // before the client is closed
		cancel()
		s.writers.Wait()
	})
	for i := range writers {
		name := fmt.Sprintf("storm-%d-%s", i, uuid.NewString())
		s.writers.Go(func() { s.write(client, name) })
	}
	return s
}

// write appends to one stream, one event at a time, until the storm ends.
func (s *storm) write(client *esdb.Client, stream string) {
	var acks []ack
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.streams[stream] = acks
	}()
	for {
		select {
		case <-s.done:
			return
		default:
		}
		expected := esdb.ExpectedRevision(esdb.NoStream{})
		if len(acks) > 0 {
			expected = esdb.Revision(uint64(len(acks) - 1))
		}
		id := uuid.New()
		r, err := s.insist(client, stream, expected, id)
		if err != nil {
			s.t.Errorf("append %d to %s: %v", len(acks), stream, err)
			return
		}
		if r.NextExpectedVersion != uint64(len(acks)) {
			s.t.Errorf("append %d to %s became number %d", len(acks), stream, r.NextExpectedVersion)
		}
		acks = append(acks, ack{id: id, position: r.CommitPosition})
		if n := s.acked.Add(1); n%50 == 0 {
			select {
			case s.signals <- n:
			default:
			}
		}
	}
}

// insist repeats one append with the same id until its outcome is known.
func (s *storm) insist(
	client *esdb.Client, stream string, expected esdb.ExpectedRevision, id uuid.UUID,
) (*esdb.WriteResult, error) {
	for {
		r, err := client.AppendToStream(s.ctx, stream, esdb.AppendToStreamOptions{ExpectedRevision: expected},
			esdb.EventData{
				EventID: id, EventType: "storm", ContentType: esdb.ContentTypeJson, Data: []byte(`{"k":"v"}`),
			})
		var e *esdb.Error
		if err == nil || s.ctx.Err() != nil || !errors.As(err, &e) || e.Code() == esdb.ErrorCodeWrongExpectedVersion {
			return r, err
		}
		s.mu.Lock()
		s.faults++
		s.mu.Unlock()
		pause := time.NewTimer(time.Duration(1+rand.IntN(20)) * time.Millisecond)
		select {
		case <-pause.C:
		case <-s.ctx.Done():
			return nil, s.ctx.Err()
		}
	}
}

// await waits until so many more appends have been acknowledged.
func (s *storm) await(more int64) {
	s.t.Helper()
	target := s.acked.Load() + more
	for {
		select {
		case n := <-s.signals:
			if n >= target {
				return
			}
		case <-s.ctx.Done():
			s.t.Fatalf("the storm does not get on: %d acknowledged, waiting for %d", s.acked.Load(), target)
		}
	}
}

// end stops the writers and compares the acknowledged appends with the log.
func (s *storm) end() {
	s.t.Helper()
	close(s.done)
	s.writers.Wait()
	client := stormClient(s.t, s.url)
	log, err := client.ReadAll(s.ctx, esdb.ReadAllOptions{}, math.MaxUint64)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	next, last := map[string]int{}, uint64(0)
	for {
		e, err := log.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			s.t.Fatal(err)
		}
		r := e.OriginalEvent()
		if r.Position.Commit <= last {
			s.t.Fatalf("position %d after %d", r.Position.Commit, last)
		}
		last = r.Position.Commit
		acks, ok := s.streams[r.StreamID]
		if !ok {
			continue
		}
		i := next[r.StreamID]
		next[r.StreamID]++
		if r.EventNumber != uint64(i) || i >= len(acks) || acks[i] != (ack{r.EventID, r.Position.Commit}) {
			s.t.Fatalf("%s: number %d at %d with id %s is not append %d of %d", r.StreamID, r.EventNumber,
				r.Position.Commit, r.EventID, i, len(acks))
		}
	}
	total := 0
	for stream, acks := range s.streams {
		total += len(acks)
		if next[stream] != len(acks) {
			s.t.Errorf("%s: %d of %d acknowledged appends are in the log", stream, next[stream], len(acks))
		}
	}
	s.t.Logf("%d appends acknowledged and found, %d faults on the way", total, s.faults)
}
