package contract

import (
	"strconv"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
)

// testLinks covers reads of link events with and without resolving.
func testLinks(t *testing.T, k *kit) {
	link := func(data string) esdb.EventData {
		e := event("$>")
		e.ContentType, e.Data = esdb.ContentTypeBinary, []byte(data)
		return e
	}
	target, s := stream("target"), stream("links")
	k.append(t, target, esdb.NoStream{}, several("a", "b")...)
	gone := stream("target")
	k.append(t, gone, esdb.NoStream{}, event("c"))
	_, err := k.client.DeleteStream(within(t), gone, esdb.DeleteStreamOptions{ExpectedRevision: esdb.Any{}})
	if err != nil {
		t.Fatal(err)
	}
	followed := stream("links") // a second stream, because the subscription's test appends to it
	for _, name := range []string{s, followed} {
		k.append(t, name, esdb.NoStream{}, link("1@"+target), event("plain"), link("9@"+target), link("0@"+gone),
			link("nonsense"))
	}
	t.Run("resolved", func(t *testing.T) {
		t.Parallel()
		got, err := k.read(t, s, esdb.ReadStreamOptions{ResolveLinkTos: true}, 10)
		if err != nil || len(got) != 5 {
			t.Fatalf("got %d events, %v", len(got), err)
		}
		if e := got[0]; e.Event == nil || e.Event.StreamID != target || e.Event.EventNumber != 1 || e.Link == nil ||
			e.Link.StreamID != s || e.OriginalEvent().EventNumber != 0 || *e.Commit != e.Link.Position.Commit {
			t.Errorf("link: %+v", e)
		}
		if e := got[1]; e.Link != nil || e.Event.EventType != "plain" {
			t.Errorf("plain event: %+v", e)
		}
		for _, e := range got[2:] {
			if e.Event != nil || e.Link == nil {
				t.Errorf("link to nothing: %+v", e)
			}
		}
	})
	t.Run("not resolved", func(t *testing.T) {
		t.Parallel()
		got, err := k.read(t, s, esdb.ReadStreamOptions{}, 1)
		if err != nil || got[0].Link != nil || got[0].Event.EventType != "$>" {
			t.Errorf("got %+v, %v", got[0], err)
		}
	})
	t.Run("large targets are all resolved", func(t *testing.T) { t.Parallel(); largeTargets(t, k, link) })
	t.Run("in a subscription", func(t *testing.T) {
		t.Parallel()
		followLinks(t, k, followed, target, link)
	})
}

// followLinks reads the five events of a stream through a subscription, and then a link that is appended.
func followLinks(t *testing.T, k *kit, followed, target string, link func(data string) esdb.EventData) {
	sub := k.subscribe(t, followed, esdb.SubscribeToStreamOptions{From: esdb.Start{}, ResolveLinkTos: true})
	if e := sub.event(t); e.Event == nil || e.Event.StreamID != target || e.Link == nil {
		t.Errorf("history: %+v", e)
	}
	for range 4 {
		sub.event(t)
	}
	sub.caughtUp(t)
	k.append(t, followed, esdb.Any{}, link("0@"+target))
	if e := sub.event(t); e.Event == nil || e.Event.EventNumber != 0 || e.Link == nil {
		t.Errorf("live: %+v", e)
	}
}

// largeTargets: the events that a page of links points to may be many times as large as the page.
func largeTargets(t *testing.T, k *kit, link func(data string) esdb.EventData) {
	const n = 60
	target, s := stream("target"), stream("links")
	links := make([]esdb.EventData, n)
	for i := range links {
		e := event("large")
		e.Data = make([]byte, 200<<10)
		k.append(t, target, esdb.Any{}, e)
		links[i] = link(strconv.Itoa(n-1-i) + "@" + target)
	}
	k.append(t, s, esdb.NoStream{}, append(links, link("0@nowhere"))...)
	got, err := k.read(t, s, esdb.ReadStreamOptions{ResolveLinkTos: true}, n+1)
	if err != nil || len(got) != n+1 {
		t.Fatalf("got %d events, %v", len(got), err)
	}
	for i, e := range got[:n] {
		if e.Event == nil || e.Event.EventNumber != uint64(n-1-i) || e.Link == nil {
			t.Fatalf("link %d: %+v", i, e.Event)
		}
	}
	if got[n].Event != nil {
		t.Error("a link to nothing is resolved")
	}
}
