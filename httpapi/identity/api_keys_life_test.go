package identityapi_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

func TestRotate_TheOldTextEndsAtOnceOrAfterTheOverlap(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	first := k.issue(t, admin, nil)
	second := k.rotate(t, admin, first.ID, "")
	if second.ID != first.ID || second.Key == first.Key || second.Prefix == first.Prefix || second.Previous != nil {
		t.Fatalf("%+v", second)
	}
	k.works(t, first.Key, 401, "api_key_revoked")
	k.works(t, second.Key, 200, "")
	third := k.rotate(t, admin, first.ID, "1h")
	if third.Previous == nil || third.Previous.Prefix != second.Prefix ||
		!third.Previous.Until.Equal(k.Clock.Now().Add(time.Hour)) {
		t.Errorf("the overlap is %+v", third.Previous)
	}
	k.works(t, second.Key, 200, "")
	k.works(t, third.Key, 200, "")
	if shown := k.shown(t, admin, first.ID); shown.Previous == nil || shown.Key != "" || shown.Prefix != third.Prefix {
		t.Errorf("read as %+v", shown)
	}
	k.Clock.Advance(time.Hour - time.Second)
	k.works(t, second.Key, 200, "")
	k.Clock.Advance(time.Second)
	k.works(t, second.Key, 401, "api_key_revoked")
	k.works(t, third.Key, 200, "")
	fourth := k.rotate(t, k.Admin(t), first.ID, "168h")
	fifth := k.rotate(t, k.Admin(t), first.ID, "168h") // the third of three ends
	k.works(t, third.Key, 401, "api_key_revoked")
	k.works(t, fourth.Key, 200, "")
	k.works(t, fifth.Key, 200, "")
}

func TestRotate_OfTwoAtOnceOneWins(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	key := k.issue(t, admin, nil)
	answers := make([]apitest.Answer, 8)
	var wait sync.WaitGroup
	for i := range answers {
		wait.Go(func() { answers[i] = k.Do(t, isptest.Post(admin, "/api-keys/"+key.ID+"/rotate", map[string]any{})) })
	}
	wait.Wait()
	works := 0
	for _, a := range answers {
		var out apiKey
		a.Into(t, &out)
		switch a.Status {
		case 200:
			if k.Do(t, isptest.Get(out.Key, "/subscribers")).Status == 200 {
				works++
			}
		case 409:
			if a.Code() != "api_key_rotated" && a.Code() != "concurrent_change" {
				t.Errorf("%s", a.Body)
			}
		default:
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	if works != 1 {
		t.Errorf("%d of the told texts work", works)
	}
	k.works(t, key.Key, 401, "api_key_revoked")
}

func TestRevoke_EndsAKeyAtOnceAndForGood(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	key := k.issue(t, admin, nil)
	k.works(t, key.Key, 200, "")
	k.remove(t, admin, key.ID)
	k.works(t, key.Key, 401, "api_key_revoked")
	k.remove(t, admin, key.ID) // a repeat
	k.Want(t, 409, "api_key_over", isptest.Post(admin, "/api-keys/"+key.ID+"/rotate", map[string]any{}))
	shown := k.shown(t, admin, key.ID)
	if shown.State != "revoked" || shown.RevokedAt == nil || shown.LastUsedAt == nil {
		t.Errorf("read as %+v", shown)
	}
}

func TestAPIKeys_ExpireByTheClock(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	key := k.issue(t, admin, map[string]any{"expiresAt": k.Clock.Now().Add(time.Minute)})
	k.works(t, key.Key, 200, "")
	k.Clock.Advance(time.Minute)
	k.works(t, key.Key, 401, "api_key_expired")
	if shown := k.shown(t, admin, key.ID); shown.State != "expired" {
		t.Errorf("read as %+v", shown)
	}
	k.Want(t, 409, "api_key_over", isptest.Post(admin, "/api-keys/"+key.ID+"/rotate", map[string]any{}))
}

func TestAPIKeys_WorkFromTheAllowedAddressesAlone(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	here := k.issue(t, admin, map[string]any{"allowedAddresses": []string{"192.0.2.0/24", "127.0.0.0/8"}})
	there := k.issue(t, admin, map[string]any{"allowedAddresses": []string{"192.0.2.0/24", "2001:db8::/32"}})
	k.works(t, here.Key, 200, "")
	k.works(t, there.Key, 403, "api_key_address_refused")
	k.Want(t, 403, "api_key_address_refused", apitest.Request{ // no proxy is trusted here
		Path: "/subscribers", As: there.Key, Header: map[string]string{"X-Forwarded-For": "192.0.2.7"},
	})
	if shown := k.shown(t, admin, there.ID); shown.LastUsedAt != nil {
		t.Errorf("a refused use counts: %+v", shown)
	}
}

// TestAPIKeys_StopWithWhoMadeThem: somebody who has lost the role may have kept a copy of the key. Another
// administrator answers for it from the next replacement on.
func TestAPIKeys_StopWithWhoMadeThem(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	ada := k.Admin(t)
	sue := k.Users[isptest.SupportEmail].String()
	role := func(role string) {
		t.Helper()
		k.Want(t, 200, "", isptest.Patch(ada, "/users/"+sue, map[string]string{"role": role}))
	}
	role("admin")
	hers := k.SignIn(t, apitest.Acme, isptest.SupportEmail).AccessToken
	full, low := k.issue(t, hers, nil), k.issue(t, hers, map[string]any{"role": "support"})
	k.works(t, full.Key, 200, "")
	role("support")
	k.works(t, full.Key, 401, "api_key_stopped")
	k.works(t, low.Key, 200, "")
	if shown := k.shown(t, ada, full.ID); shown.State != "stopped" || shown.CreatedBy.ID != sue {
		t.Errorf("read as %+v", shown)
	}
	role("admin")
	k.works(t, full.Key, 200, "")
	k.Want(t, 200, "", isptest.Post(ada, "/users/"+sue+"/disable", map[string]string{"reason": "left"}))
	k.works(t, full.Key, 401, "api_key_stopped")
	k.works(t, low.Key, 401, "api_key_stopped")
	next := k.rotate(t, ada, full.ID, "1h")
	if next.State != "active" || next.CreatedBy.ID != sue || next.AnsweredBy.ID == sue {
		t.Errorf("replaced: %+v", next)
	}
	k.works(t, next.Key, 200, "")
	k.works(t, full.Key, 401, "api_key_stopped") // also in its overlap
}

func TestAPIKeys_OfASuspendedOrganizationDoNotWork(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	key := k.issue(t, k.Admin(t), nil)
	root := k.SignIn(t, apitest.Domain, isptest.RootEmail).AccessToken
	suspend := isptest.At(apitest.Domain,
		isptest.Post(root, "/orgs/"+k.Acme.String()+"/suspend", map[string]string{"reason": "unpaid"}))
	k.Want(t, 200, "", suspend)
	k.works(t, key.Key, 403, "organization_suspended")
	suspend.Path = strings.Replace(suspend.Path, "suspend", "resume", 1)
	k.Want(t, 200, "", suspend)
	k.works(t, key.Key, 200, "")
}

// TestAPIKeys_NeedNoOriginAndHaveTheirOwnKeysOfRequests: a program sends no Origin, whatever cookies lie about, and its
// Idempotency-Key is not that of a person.
func TestAPIKeys_NeedNoOriginAndHaveTheirOwnKeysOfRequests(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	key := k.issue(t, admin, nil)
	post := func(as, phone string) apitest.Answer {
		t.Helper()
		r := isptest.Post(as, "/subscribers", map[string]string{"firstName": "Amina", "phone": phone})
		r.Cookie, r.Header = admin, map[string]string{"Idempotency-Key": "one", "Origin": "https://elsewhere.example"}
		return k.Want(t, 201, "", r)
	}
	first, again := post(key.Key, "0712000001"), post(key.Key, "0712000001")
	if string(first.Body) != string(again.Body) || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("a repeat is %s", again.Body)
	}
	rotated := k.rotate(t, admin, key.ID, "")
	if again = post(rotated.Key, "0712000001"); string(first.Body) != string(again.Body) {
		t.Error("a replaced text is another caller")
	}
	if other := post(admin, "0712000002"); other.Header.Get("Idempotency-Replayed") != "" {
		t.Error("a person gets the answer of a key")
	}
}

func TestIssue_ARepeatUnderAKeyIsAnsweredByWhatWasStored(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	request := isptest.Post(k.Admin(t), "/api-keys", map[string]string{"name": "Books", "role": "support"})
	request.Header = map[string]string{"Idempotency-Key": "books"}
	var first, again apiKey
	k.Want(t, 201, "", request).Into(t, &first)
	k.Want(t, 201, "", request).Into(t, &again)
	if first.Key != again.Key || first.ID != again.ID {
		t.Error("a repeat made another key")
	}
	k.works(t, again.Key, 200, "")
}

// TestAPIKeys_AreRecordedAsWhoActed: in the log with the kind, the key and its role; and so is each use of a key that
// may not enter, also one that only reads.
func TestAPIKeys_AreRecordedAsWhoActed(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	key := k.issue(t, admin, nil)
	person := map[string]string{"firstName": "Amina", "phone": "0712000001"}
	k.Want(t, 201, "", isptest.Post(key.Key, "/subscribers", person))
	k.Want(t, 403, "api_key_not_allowed", isptest.Post(key.Key, "/api-keys", map[string]string{}))
	k.remove(t, admin, key.ID)
	k.works(t, key.Key, 401, "api_key_revoked")
	k.works(t, "lastmile_dev_x", 401, "unauthenticated") // nobody, and not recorded
	there := k.issue(t, admin, map[string]any{"allowedAddresses": []string{"192.0.2.0/24"}})
	k.works(t, there.Key, 403, "api_key_address_refused")
	brief := k.issue(t, admin, map[string]any{"expiresAt": k.Clock.Now().Add(time.Minute)})
	k.Clock.Advance(time.Minute)
	k.works(t, brief.Key, 401, "api_key_expired")
	got, refused := map[string]int{}, map[string]string{}
	recorded, _, err := k.Core.Store.ReadAll(t.Context(), 0, 1000, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range recorded {
		if e.Meta.Actor.Kind == "api_key" && e.Meta.Actor.ID == key.ID && e.Meta.Actor.Role == "admin" {
			got[e.Type]++
		}
		if v, is := e.Event.(events.RequestRefused); is {
			refused[e.Meta.Actor.ID] = v.Method + " " + v.Route + " " + v.Code
		}
	}
	if refused[there.ID] != "GET /subscribers api_key_address_refused" ||
		refused[brief.ID] != "GET /subscribers api_key_expired" || len(refused) != 3 {
		t.Errorf("refused are %v", refused)
	}
	if got[events.SubscriberRegistered{}.EventType()] != 1 || got[events.RequestRefused{}.EventType()] != 2 {
		t.Errorf("recorded are %v", got)
	}
}

// TestAPIKeys_RevokedWhileARequestIsUnderWay: what has entered goes on, and nothing enters afterwards.
func TestAPIKeys_RevokedWhileARequestIsUnderWay(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	key := k.issue(t, admin, nil)
	entered, body := make(chan struct{}), make(chan struct{})
	done := make(chan int)
	go func() {
		from := &waitingBody{text: `{"firstName":"Amina","phone":"0712000001"}`, entered: entered, wait: body}
		ctx := context.WithoutCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, k.URL()+"/subscribers", from)
		if err != nil {
			t.Error(err)
			done <- 0
			return
		}
		r.Host = apitest.Acme
		r.Header.Set("Authorization", "Bearer "+key.Key)
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Error(err)
			done <- 0
			return
		}
		_ = answer.Body.Close()
		done <- answer.StatusCode
	}()
	<-entered
	uses := func() *time.Time { return k.shown(t, admin, key.ID).LastUsedAt }
	eventually(t, "the server to let the request in", func() bool { return uses() != nil })
	k.remove(t, admin, key.ID)
	k.works(t, key.Key, 401, "api_key_revoked")
	close(body)
	if status := <-done; status != 201 {
		t.Errorf("the request that had entered is answered %d", status)
	}
}

// waitingBody is a body of a request whose end waits.
type waitingBody struct {
	text          string
	entered, wait chan struct{}
	sent          int
}

// Read gives the first half, and the second one when it may.
func (b *waitingBody) Read(p []byte) (int, error) {
	half := len(b.text) / 2
	switch b.sent {
	case 0:
		b.sent = half
		close(b.entered)
		return copy(p, b.text[:half]), nil
	case half:
		<-b.wait
		b.sent = len(b.text)
		return copy(p, b.text[half:]), nil
	}
	return 0, io.EOF
}

func TestKeyUses_AtMostOneWriteAMinute(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	key := k.issue(t, k.Admin(t), nil)
	parsed := id.Must[id.APIKey](key.ID)
	written := func() time.Time {
		t.Helper()
		uses, err := k.Vault.APIKeys.Uses(t.Context(), []id.APIKey{parsed})
		if err != nil {
			t.Fatal(err)
		}
		return uses[parsed].At
	}
	wait := func(what string, at time.Time) {
		t.Helper()
		eventually(t, what+" to be written", func() bool { return written().Equal(at) })
	}
	first := k.Clock.Now()
	k.works(t, key.Key, 200, "")
	wait("the first use", first)
	for range 20 {
		k.Clock.Advance(time.Second)
		k.works(t, key.Key, 200, "")
	}
	if at := written(); !at.Equal(first) {
		t.Errorf("written again after %s", at.Sub(first))
	}
	last := k.Clock.Now()
	k.Clock.Advance(vault.APIKeyUsePause)
	wait("the last of many uses", last)
}

// eventually waits until a condition holds; after a minute it ends the test.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
