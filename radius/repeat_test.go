package radius_test

import (
	"bytes"
	"testing"
	"time"

	layeh "layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/lastmile-isp/lastmile/radius"
)

func TestRepeat_GetsTheSameOctetsAndCountsOnce(t *testing.T) {
	t.Parallel()
	nas := router(localhost)
	u := (&users{keys: true}).add(t, nas.Org, "amina", "pw")
	k := start(t, u, newLedger(), radius.Limits{KeepFor: 10 * time.Second}, nas)
	l := dial(t, localhost, k.server.AccessAddr())
	for _, password := range []string{"pw", "wrong"} {
		p := access("amina")
		proofs["MS-CHAPv2"](t, p, password) // its answer has random parts
		request := signed(t, p, secret)
		before := u.count("amina")
		l.ask(request, secret)
		l.send(request)
		first := l.receive()
		for range 3 {
			l.send(request)
			if again := l.receive(); !bytes.Equal(first, again) {
				t.Fatalf("repeat answered by %x, before by %x", again, first)
			}
		}
		if got := u.count("amina") - before; got != 1 {
			t.Errorf("%s: counted %d times", password, got)
		}
		k.clock.Advance(10 * time.Second)
		if l.ask(request, secret); u.count("amina")-before != 2 {
			t.Error("a repeat after the time is not a new request")
		}
	}
}

// TestLater_AnAcceptThatWaitsHoldsUpNobody: what has to be durable first is answered when it is; repeats of it are
// swallowed until then, and others are answered meanwhile.
func TestLater_AnAcceptThatWaitsHoldsUpNobody(t *testing.T) {
	t.Parallel()
	nas := router(localhost)
	waiting := make(chan func(), 1)
	u := (&users{}).add(t, nas.Org, "amina", "pw").add(t, nas.Org, "josef", "pw")
	u.refused = map[string]string{"josef": "not now"}
	u.more = func(p *radius.Reply) { p.After(func(send func()) { waiting <- send }) }
	k := start(t, u, newLedger(), radius.Limits{}, nas)
	l := dial(t, localhost, k.server.AccessAddr())
	request := wire(t, pap(t, "amina", "pw", secret))
	l.send(request)
	send := <-waiting
	l.send(request)
	other := wire(t, pap(t, "josef", "pw", secret))
	if answer := l.ask(other, secret); answer.Code != layeh.CodeAccessReject { // the first answer of all
		t.Fatalf("the other one is answered %v", answer.Code)
	}
	send()
	first := l.receive()
	if answer := l.check(first, request, secret); answer.Code != layeh.CodeAccessAccept {
		t.Errorf("answered %v", answer.Code)
	}
	l.send(request)
	if again := l.receive(); !bytes.Equal(first, again) || u.count("amina") != 1 {
		t.Errorf("repeat answered by %x, before by %x", again, first)
	}
}

func TestRepeat_OfAHeaderWithOtherContentIsAnotherRequest(t *testing.T) {
	t.Parallel()
	nas := router(localhost)
	u := (&users{}).add(t, nas.Org, "amina", "pw").add(t, nas.Org, "josef", "pw")
	k := start(t, u, newLedger(), radius.Limits{}, nas)
	l := dial(t, localhost, k.server.AccessAddr())
	p := pap(t, "amina", "pw", secret)
	if answer := l.ask(wire(t, p), secret); answer.Code != layeh.CodeAccessAccept {
		t.Fatal(answer.Code)
	}
	rfc2865.UserName_SetString(p, "peter") // the authenticator is used again for somebody else
	if answer := l.ask(wire(t, p), secret); answer.Code != layeh.CodeAccessReject {
		t.Errorf("a replayed authenticator: %v", answer.Code)
	}
	rfc2865.UserName_SetString(p, "josef")
	if l.ask(wire(t, p), secret); u.count("josef") != 1 {
		t.Error("josef was not asked about")
	}
	other := dial(t, localhost, k.server.AccessAddr())
	if other.ask(wire(t, p), secret); u.count("josef") != 2 {
		t.Error("the same octets from another port are the same request")
	}
}

func TestRepeat_AnIdentifierIsUsedAgainAtOnce(t *testing.T) {
	t.Parallel()
	nas := router(localhost)
	u := (&users{}).add(t, nas.Org, "amina", "pw")
	k := start(t, u, newLedger(), radius.Limits{}, nas)
	l := dial(t, localhost, k.server.AccessAddr())
	for range 100 {
		l.ask(wire(t, numbered(pap(t, "amina", "pw", secret), 42)), secret)
	}
	if got := u.count("amina"); got != 100 {
		t.Errorf("%d of 100 were taken", got)
	}
}

func TestFlood_OfOneRouterLeavesTheOthersTheirAnswers(t *testing.T) {
	t.Parallel()
	loud, calm := router(localhost), router(neighbour)
	u := (&users{}).add(t, loud.Org, "amina", "pw").add(t, calm.Org, "josef", "pw")
	k := start(t, u, newLedger(), radius.Limits{Rate: 50, Answers: 10}, loud, calm)
	quiet := dial(t, neighbour, k.server.AccessAddr())
	early := wire(t, pap(t, "josef", "pw", secret))
	quiet.ask(early, secret)
	flood := dial(t, localhost, k.server.AccessAddr())
	for range 50 {
		flood.ask(wire(t, pap(t, "amina", "pw", secret)), secret)
	}
	for range 100 {
		flood.send(wire(t, pap(t, "amina", "pw", secret)))
	}
	k.until("access", radius.OverLimit, 100)
	for range 5 { // its repeats, whose answer was not pushed out
		quiet.ask(early, secret)
	}
	if got := u.count("josef"); got != 1 {
		t.Errorf("the calm router's repeats counted %d times", got)
	}
	k.clock.Advance(time.Second)
	if answer := quiet.ask(wire(t, pap(t, "josef", "pw", secret)), secret); answer.Code != layeh.CodeAccessAccept {
		t.Error(answer.Code)
	}
	if n := k.told()[radius.OverLimit]; n.NAS != loud || n.Count != 100 {
		t.Errorf("told %+v", n)
	}
}

func TestFlood_OfOneRouterBehindASharedAddressLeavesTheOthers(t *testing.T) {
	t.Parallel()
	loud, calm := router(), router()
	loud.Claimed, calm.Claimed = claims(localhost), claims(localhost)
	calm.Secret = secondSecret
	k := start(t, &users{}, newLedger(), radius.Limits{Rate: 50}, loud, calm)
	l := dial(t, localhost, k.server.AccessAddr())
	for range 60 { // the limit of the address is 100
		l.send(signed(t, pap(t, "amina", "pw", secret), secret))
	}
	for range 40 {
		l.send(signed(t, pap(t, "josef", "pw", secondSecret), secondSecret))
	}
	k.until("access", radius.Rejected, 90)
	l.send(beacon(t, 1)) // over the limit of the address
	k.until("access", radius.OverLimit, 11)
	if got := k.users.count("amina"); got != 50 {
		t.Errorf("%d of the loud router were taken", got)
	}
}
