package httpapi_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

func TestIdempotency_FirstAnswerIsReplayedByteForByte(t *testing.T) {
	t.Parallel()
	p := apitest.NewParcels()
	k := apitest.New(t, nil, p.Routes())
	first, second := k.Do(t, apitest.Keyed("k1", apitest.Good)), k.Do(t, apitest.Keyed("k1", apitest.Good))
	if first.Status != 201 || first.Header.Get("Idempotency-Replayed") != "" {
		t.Fatalf("first: %d %v", first.Status, first.Header)
	}
	if second.Status != 201 || second.Header.Get("Idempotency-Replayed") != "true" ||
		string(first.Body) != string(second.Body) ||
		second.Header.Get("ETag") != `"3"` || second.Header.Get("Content-Type") != first.Header.Get("Content-Type") {
		t.Errorf("second: %d %v %s", second.Status, second.Header, second.Body)
	}
	if n := len(p.Made); n != 1 {
		t.Errorf("acted %d times", n)
	}
	apitest.Sends(t, k, "other body", apitest.Keyed("k1", `{"name":"b","amount":1}`),
		apitest.Is(422, "idempotency_key_reused"))
	otherHost := apitest.Keyed("k1", apitest.Good)
	otherHost.As, otherHost.Host = apitest.Super, apitest.Other
	if got := k.Do(t, otherHost); got.Header.Get("Idempotency-Replayed") != "" {
		t.Error("replayed across hosts")
	}
	k.Clock.Advance(25 * time.Hour)
	if got := k.Do(t, apitest.Keyed("k1", `{"name":"b","amount":1}`)); got.Status != 201 ||
		got.Header.Get("Idempotency-Replayed") != "" {
		t.Errorf("after a day: %d %s", got.Status, got.Body)
	}
	for _, key := range []string{"a b", "é", strings.Repeat("k", 256), ""} {
		apitest.Sends(t, k, "key "+key, apitest.Keyed(key, apitest.Good), apitest.Is(400, "bad_idempotency_key"))
	}
	if got := k.Do(t, apitest.Keyed(strings.Repeat("k", 255), apitest.Good)); got.Status != 201 {
		t.Errorf("a key of 255: %d", got.Status)
	}
}

func TestIdempotency_ARefusedRequestFreesTheKeyForAnyBody(t *testing.T) {
	t.Parallel()
	p := apitest.NewParcels()
	p.Refuse = failure.NewConflict("parcel_locked", "Locked.")
	k := apitest.New(t, nil, p.Routes())
	apitest.Sends(t, k, "refused", apitest.Keyed("k", apitest.Good), apitest.Is(409, "parcel_locked"))
	apitest.Sends(t, k, "another body", apitest.Keyed("k", `{"name":"b","amount":1}`), apitest.Is(409, "parcel_locked"))
	p.Refuse = nil
	k.Clock.Advance(time.Microsecond)
	if got := k.Do(t, apitest.Keyed("k", apitest.Good)); got.Status != 201 ||
		got.Header.Get("Idempotency-Replayed") != "" {
		t.Fatalf("third try: %d %v", got.Status, got.Header)
	}
	if a, b, c := <-p.Made, <-p.Made, <-p.Made; a == b || a == c || b == c {
		t.Errorf("command ids %s, %s and %s", a, b, c)
	}
}

func TestIdempotency_AFailedRequestActsAgainUnderTheSameCommand(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]error{
		"fault": errors.New("something broke"), "unavailable": failure.NewUnavailable("busy", "Busy.", 0, nil),
	} {
		p := apitest.NewParcels()
		p.Refuse = cause
		k := apitest.New(t, nil, p.Routes())
		if got := k.Do(t, apitest.Keyed("k", apitest.Good)); got.Status < 500 {
			t.Fatalf("%s: %d", name, got.Status)
		}
		p.Refuse = nil
		k.Clock.Advance(23 * time.Hour)
		apitest.Sends(t, k, name+", other body", apitest.Keyed("k", `{"name":"b","amount":1}`),
			apitest.Is(422, "idempotency_key_reused"))
		if got := k.Do(t, apitest.Keyed("k", apitest.Good)); got.Status != 201 {
			t.Fatalf("%s: second try: %d %s", name, got.Status, got.Body)
		}
		if a, b := <-p.Made, <-p.Made; a != b {
			t.Errorf("%s: command ids %s and %s: it acted twice", name, a, b)
		}
		k.Clock.Advance(24 * time.Hour)
		if got := k.Do(t, apitest.Keyed("k", apitest.Good)); got.Status != 201 ||
			got.Header.Get("Idempotency-Replayed") != "" {
			t.Errorf("%s: a day later: %d %v", name, got.Status, got.Header)
		}
		if a := <-p.Made; a.IsZero() {
			t.Errorf("%s: a day later it did not act", name)
		}
	}
}

func TestIdempotency_RunningIsConflict(t *testing.T) {
	t.Parallel()
	p := apitest.NewParcels()
	p.Gate = make(chan struct{})
	k := apitest.New(t, nil, p.Routes())
	first := make(chan apitest.Answer)
	go func() { first <- k.Do(t, apitest.Keyed("k", apitest.Good)) }()
	<-p.Made // now the first one is running
	apitest.Sends(t, k, "meanwhile", apitest.Keyed("k", apitest.Good), apitest.Is(409, "idempotency_key_running"))
	close(p.Gate)
	if got := <-first; got.Status != 201 {
		t.Errorf("first: %d %s", got.Status, got.Body)
	}
	if got := k.Do(t, apitest.Keyed("k", apitest.Good)); got.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("afterwards: %d %v", got.Status, got.Header)
	}
}

func TestIdempotency_IdsOfWhatIsMadeFollowTheKey(t *testing.T) {
	t.Parallel()
	p := apitest.NewParcels()
	p.Refuse = failure.NewConflict("parcel_locked", "Locked.")
	k := apitest.New(t, nil, p.Routes())
	var with, again, without, other apitest.ParcelResponse
	p.Refuse = nil
	k.Do(t, apitest.Keyed("k", apitest.Good)).Into(t, &with)
	k.Do(t, apitest.Keyed("k", apitest.Good)).Into(t, &again)
	k.Do(t, apitest.Keyed("other", apitest.Good)).Into(t, &other)
	k.Do(t, apitest.Request{Method: "POST", Path: "/parcels", As: apitest.Admin, Body: apitest.Good}).Into(t, &without)
	if with.ID != again.ID || with.ID == other.ID || with.ID == without.ID || with.CommandID == without.CommandID {
		t.Errorf("ids %s %s %s %s", with.ID, again.ID, other.ID, without.ID)
	}
}

func TestIdempotency_IgnoredForSignInAndCallbacks(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	for _, path := range []string{"/auth/knock", "/webhooks/parcels/t"} {
		for range 2 {
			got := k.Do(t, apitest.Request{
				Method: "POST", Path: path, Header: map[string]string{"Idempotency-Key": "a b"},
			})
			if got.Status != 200 || got.Header.Get("Idempotency-Replayed") != "" {
				t.Errorf("%s: %d %v", path, got.Status, got.Header)
			}
		}
	}
}

// TestIdempotency_NoReplayToACustomerWhoHasLostASubscriber: the answer may be about that one. Who has more than before
// gets it.
func TestIdempotency_NoReplayToACustomerWhoHasLostASubscriber(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	mine, lost, later := id.New[id.Subscriber](), id.New[id.Subscriber](), id.New[id.Subscriber]()
	claim := apitest.Request{
		Method: "POST", Path: "/parcels/" + lost.String() + "/claim", As: apitest.Subscriber,
		Header: map[string]string{"Idempotency-Key": "k"},
	}
	k.CustomerSees(mine, lost)
	apitest.Sends(t, k, "first", claim, apitest.Is(200, ""))
	k.CustomerSees(later, lost, mine)
	if got := k.Do(t, claim); got.Status != 200 || got.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("a repeat by who sees more: %d %s", got.Status, got.Body)
	}
	k.CustomerSees(mine)
	apitest.Sends(t, k, "a repeat after the loss", claim, apitest.Is(404, "subscriber_not_found"))
}
