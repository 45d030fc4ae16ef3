package embedded_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
)

// evenEvents are so many events of which a whole number fills a small page exactly.
const evenEvents = 100

// evenLog has a node that has no room for large pages, and a log that ends with the even events. before is the position
// of the event before them.
func evenLog(t *testing.T) (client *esdb.Client, before uint64) {
	t.Helper()
	n := start(t, testConfig(t))
	embedded.OnlySmallPages(n)
	client = contract.Connect(t, n.URL())
	before = mustAppend(t, client, "before", esdb.Any{}, oneEvent()).CommitPosition
	const body = embedded.SmallBytes/32 - embedded.RowOverhead
	for range evenEvents {
		e := oneEvent()
		e.ContentType, e.Metadata, e.Data = esdb.ContentTypeBinary, make([]byte, body/3), make([]byte, body-body/3)
		mustAppend(t, client, "even", esdb.Any{}, e)
	}
	return client, before
}

// TestPage_ThatIsFullToTheByteIsNotTheEnd of a stream or of the log, in each direction.
func TestPage_ThatIsFullToTheByteIsNotTheEnd(t *testing.T) {
	t.Parallel()
	client, before := evenLog(t)
	next := esdb.Position{Commit: before + 1, Prepare: before + 1}
	for name, open := range map[string]func() (*esdb.ReadStream, error){
		"forwards": func() (*esdb.ReadStream, error) {
			return client.ReadStream(t.Context(), "even", esdb.ReadStreamOptions{}, math.MaxInt32)
		},
		"forwards from a revision": func() (*esdb.ReadStream, error) {
			return client.ReadStream(t.Context(), "even", esdb.ReadStreamOptions{From: esdb.Revision(1)}, math.MaxInt32)
		},
		"backwards": func() (*esdb.ReadStream, error) {
			return client.ReadStream(t.Context(), "even", esdb.ReadStreamOptions{
				Direction: esdb.Backwards, From: esdb.End{},
			}, math.MaxInt32)
		},
		"all": func() (*esdb.ReadStream, error) {
			return client.ReadAll(t.Context(), esdb.ReadAllOptions{From: next}, math.MaxInt32)
		},
		"all backwards": func() (*esdb.ReadStream, error) {
			return client.ReadAll(t.Context(), esdb.ReadAllOptions{
				Direction: esdb.Backwards, From: esdb.End{},
			}, evenEvents)
		},
	} {
		want := evenEvents
		if name == "forwards from a revision" {
			want--
		}
		call, err := open()
		if n, _ := keptBytes(t, call, err); n != want {
			t.Errorf("%s: %d events, not %d", name, n, want)
		}
	}
}

// TestPage_ASubscriptionLosesNothingWhereAPageIsFullToTheByte neither one to a stream nor one to the log, and tells
// that it has caught up after the last event.
func TestPage_ASubscriptionLosesNothingWhereAPageIsFullToTheByte(t *testing.T) {
	t.Parallel()
	client, before := evenLog(t)
	for name, open := range map[string]func() (*esdb.Subscription, error){
		"stream": func() (*esdb.Subscription, error) {
			return client.SubscribeToStream(t.Context(), "even", esdb.SubscribeToStreamOptions{From: esdb.Start{}})
		},
		"all": func() (*esdb.Subscription, error) {
			return client.SubscribeToAll(t.Context(), esdb.SubscribeToAllOptions{
				From: esdb.Position{Commit: before, Prepare: before},
			})
		},
		"filtered": func() (*esdb.Subscription, error) {
			return client.SubscribeToAll(t.Context(), esdb.SubscribeToAllOptions{
				From:   esdb.Position{Commit: before, Prepare: before},
				Filter: &esdb.SubscriptionFilter{Type: esdb.StreamFilterType, Prefixes: []string{"even"}},
			})
		},
	} {
		sub, err := open()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for e := sub.Recv(); e.CaughtUp == nil; e = sub.Recv() {
			switch {
			case e.SubscriptionDropped != nil:
				t.Fatalf("%s: %v", name, e.SubscriptionDropped.Error)
			case e.EventAppeared != nil:
				n++
			}
		}
		if n != evenEvents {
			t.Errorf("%s: %d events, not %d", name, n, evenEvents)
		}
		_ = sub.Close()
	}
}

// TestPage_LinksToLargeEventsOfOneSizeAreResolved although the room that one has is full to the byte.
func TestPage_LinksToLargeEventsOfOneSizeAreResolved(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.MaxAppendSize = 4 << 20
	client := contract.Connect(t, start(t, cfg).URL())
	for i := range 2 {
		e := oneEvent()
		e.ContentType, e.Data = esdb.ContentTypeBinary, bytes.Repeat([]byte{byte(i)}, 3<<20)
		mustAppend(t, client, "large", esdb.Any{}, e)
	}
	links := []esdb.EventData{oneEvent(), oneEvent()}
	for i := range links {
		links[i].EventType, links[i].ContentType = "$>", esdb.ContentTypeBinary
		links[i].Data = []byte{byte('0' + i), '@', 'l', 'a', 'r', 'g', 'e'}
	}
	mustAppend(t, client, "links", esdb.Any{}, links...)
	read, err := client.ReadStream(t.Context(), "links", esdb.ReadStreamOptions{ResolveLinkTos: true}, 10)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	for i := 0; ; i++ {
		e, err := read.Recv()
		if errors.Is(err, io.EOF) && i == len(links) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Event == nil || e.Event.EventNumber != uint64(i) || e.Event.Data[0] != byte(i) {
			t.Errorf("link %d is not resolved", i)
		}
	}
}
