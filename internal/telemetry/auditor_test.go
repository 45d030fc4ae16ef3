package telemetry_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// unserved is a story about a customer's tries, and the code of the refusal that is found; "" = none is.
type unserved struct {
	refused []telemetry.Refusal
	report  *time.Duration // after noon: the customer's session reports
	stop    bool
	want    string
	began   time.Duration // after noon: when the customer began to be refused
}

// unservedStories are by what happened.
func (k *kit) unservedStories() map[string]unserved {
	once := []telemetry.Refusal{k.refused("unpaid", noon, 1)}
	nobody, other := k.refused("unknown_user", noon, 1), k.refused("unpaid", noon.Add(time.Hour), 1)
	device := k.refused("wrong_mac", noon.Add(time.Hour), 1)
	hour := time.Hour
	goesOn, many := k.refused("wrong_password", noon.Add(-hour), 1), k.refused("too_many_codes", noon.Add(-hour), 9)
	goesOn.At, many.At = noon.Add(hour), noon.Add(2*hour)
	midnight := noon.Add(12 * hour)
	evening, night := k.refused("wrong_mac", midnight.Add(-hour), 1), k.refused("wrong_mac", midnight, 1)
	elsewhere := k.refused("unpaid", noon.Add(-hour), 1)
	elsewhere.DeviceID = other.DeviceID
	stranger, before := k.refused("unknown_nas", noon.Add(hour), 1), k.refused("wrong_secret", noon.Add(-hour), 1)
	stranger.DeviceID, before.DeviceID = id.Device{}, id.Device{}
	nobody.SubscriberID, nobody.SubscriptionID = id.Subscriber{}, id.Subscription{}
	other.DeviceID = id.New[id.Device]()
	return map[string]unserved{
		"refused":                     {refused: once, want: "unpaid"},
		"the latest one":              {refused: append(once, device), want: "wrong_mac"},
		"long ago":                    {refused: []telemetry.Refusal{k.refused("unpaid", noon.AddDate(0, 0, -9), 1)}},
		"then refused elsewhere":      {refused: append(once, other)},
		"nobody":                      {refused: []telemetry.Refusal{nobody}},
		"online since":                {refused: once, report: after(2 * time.Minute)},
		"online since, and off again": {refused: once, report: after(2 * time.Minute), stop: true},
		"online before":               {refused: once, report: after(-hour), stop: true, want: "unpaid"},
		"over midnight, UTC": {
			refused: []telemetry.Refusal{evening, night}, want: "wrong_mac", began: 11 * hour,
		},
		"for an hour, with tries from before the last session": {
			refused: []telemetry.Refusal{goesOn}, report: after(hour / 2), stop: true, want: "wrong_password",
			began: hour / 2,
		},
		"too often": {
			refused: []telemetry.Refusal{goesOn, many}, want: "wrong_password", began: -hour,
		},
		"too often, and nothing else since the last session": {
			refused: []telemetry.Refusal{goesOn, many}, report: after(hour * 3 / 2), stop: true,
			want: "too_many_codes", began: hour * 3 / 2,
		},
		"packets of strangers before and after": {
			refused: append(once, stranger, before), want: "unpaid",
		},
		"packets of strangers alone": {refused: []telemetry.Refusal{stranger, before}},
		"first elsewhere":            {refused: append(once, elsewhere), want: "unpaid", began: -hour},
	}
}

// TestUnserved_WhoseLastTryWasRefusedAndWhoHasHadNoSessionSince, at the router of that try alone.
func TestUnserved_WhoseLastTryWasRefusedAndWhoHasHadNoSessionSince(t *testing.T) {
	t.Parallel()
	k := open(t)
	for what := range k.unservedStories() {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			k := open(t)
			story := k.unservedStories()[what]
			if err := k.SaveRefusals(t.Context(), story.refused); err != nil {
				t.Fatal(err)
			}
			if story.report != nil {
				r := telemetry.Report{
					Kind: telemetry.Interim, Org: k.org, Device: k.device, Session: "81000001", User: "amina",
					At: noon.Add(*story.report),
				}
				if story.stop {
					r.Kind = telemetry.Stop
				}
				if _, err := k.Commit(t.Context(), k.directory(), []telemetry.Report{r}); err != nil {
					t.Fatal(err)
				}
			}
			since, now := noon.AddDate(0, 0, -7), noon.AddDate(0, 0, 1)
			got, err := k.Unserved(t.Context(), k.device, since, now)
			if err != nil || story.want == "" && len(got) > 0 ||
				story.want != "" && (len(got) != 1 || got[0].Code != story.want ||
					!got[0].FirstAt.Equal(noon.Add(story.began))) {
				t.Errorf("%+v, %v, want %q since %v after noon", got, err, story.want, story.began)
			}
			elsewhere, err := k.Unserved(t.Context(), id.New[id.Device](), since, now)
			if err != nil || len(elsewhere) > 0 {
				t.Errorf("at another router %+v, %v", elsewhere, err)
			}
		})
	}
}

// TestUnserved_WhatIsStillToComeIsFromWhenTheClockWasAhead: neither such a refusal counts, nor such a session.
func TestUnserved_WhatIsStillToComeIsFromWhenTheClockWasAhead(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		refused, online time.Duration // since noon
		unserved        bool
	}{
		"refused then, and let in since": {refused: 3 * time.Hour, online: 0},
		"online then, and refused since": {refused: 10 * time.Minute, online: 3 * time.Hour, unserved: true},
	} {
		k := open(t)
		r := k.refused("wrong_mac", noon.Add(c.refused), 1)
		if err := k.SaveRefusals(t.Context(), []telemetry.Refusal{r}); err != nil {
			t.Fatal(err)
		}
		begins, ends := k.at(telemetry.Start, 0, 0, 0), k.at(telemetry.Stop, time.Minute, 5, 5)
		begins.At, ends.At = begins.At.Add(c.online), ends.At.Add(c.online)
		k.commitAt(t, ends.At, k.directory(), []telemetry.Report{begins, ends})
		got, err := k.Unserved(t.Context(), k.device, noon.AddDate(0, 0, -7), noon.Add(20*time.Minute))
		if err != nil || (len(got) == 1) != c.unserved {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
}

// after is a pointer to a duration.
func after(d time.Duration) *time.Duration { return &d }

// TestLooks_TellSinceWhenARouterIsNotSeen, and are the organization's own.
func TestLooks_TellSinceWhenARouterIsNotSeen(t *testing.T) {
	t.Parallel()
	k := open(t)
	looks := func(look telemetry.Look) (seen, unseen time.Duration) {
		seen, unseen = -1, -1
		if look.LookedAt != nil {
			seen = look.LookedAt.Sub(noon)
		}
		if look.UnseenSince != nil {
			unseen = look.UnseenSince.Sub(noon)
		}
		return seen, unseen
	}
	for _, c := range []struct {
		at           time.Duration
		why          string
		seen, unseen time.Duration
	}{
		{0, "router_unreachable", -1, 0}, {1, "reports_waiting", -1, 0}, {2, "", 2, -1}, {
			3, "router_unreachable", 2, 3,
		},
		{1, "", 2, 3}, // it ended after a later one
		{4, "router_unreachable", 2, 3}, {5, "", 5, -1},
	} {
		at, scale := noon.Add(c.at*time.Minute), time.Minute
		if err := k.KeepLook(t.Context(), k.org, k.device, at, c.why); err != nil {
			t.Fatal(err)
		}
		all, err := k.Looks(t.Context(), k.org)
		if err != nil || len(all) != 1 {
			t.Fatalf("%v, %v", all, err)
		}
		if all[k.device].TriedAt.IsZero() {
			t.Error("no instant of the try")
		}
		seen, unseen := looks(all[k.device])
		if want := c.seen * scale; c.seen >= 0 && seen != want || c.seen < 0 && seen != -1 {
			t.Errorf("after %+v seen %v", c, seen)
		}
		if want := c.unseen * scale; c.unseen >= 0 && unseen != want || c.unseen < 0 && unseen != -1 {
			t.Errorf("after %+v unseen %v", c, unseen)
		}
	}
	if others, err := k.Looks(t.Context(), id.New[id.Organization]()); err != nil || len(others) > 0 {
		t.Errorf("another organization sees %v, %v", others, err)
	}
	if err := k.Purge(t.Context(), noon.Add(2*time.Hour), telemetry.Retention{Sessions: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if all, err := k.Looks(t.Context(), k.org); err != nil || len(all) > 0 {
		t.Errorf("after the retention %v, %v", all, err)
	}
}
