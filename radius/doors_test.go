package radius_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
	layeh "layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"

	"github.com/lastmile-isp/lastmile/radius"
)

// The secrets of other routers.
var (
	secondSecret = []byte("another secret")
	wrongSecret  = []byte("no secret of ours")
)

func TestSender_OfAnOwnAddressIsKnownByIt(t *testing.T) {
	t.Parallel()
	good := func() *layeh.Packet { return pap(t, "amina", "pw", secret) }
	plain, right := wire(t, good()), signed(t, good(), secret)
	for name, c := range map[string]struct {
		request []byte
		require bool
		result  string // "" = accepted
	}{
		"without":             {plain, false, ""},
		"with":                {right, false, ""},
		"required and there":  {right, true, ""},
		"required, stripped":  {plain, true, "unproven"},
		"of another secret":   {signed(t, good(), wrongSecret), false, "wrong_secret"},
		"changed on the way":  {changed(signed(t, good(), secret)), false, "wrong_secret"},
		"EAP without":         {wire(t, eap("amina")), false, "unproven"},
		"status without":      {wire(t, layeh.New(layeh.CodeStatusServer, secret)), false, "unproven"},
		"two authenticators":  {signed(t, withAuthenticator(good(), 16), secret), false, "malformed"},
		"short authenticator": {wire(t, withAuthenticator(good(), 15)), false, "malformed"},
		"accounting there":    {wire(t, layeh.New(layeh.CodeAccountingRequest, secret)), false, "unexpected_code"},
		"answer of a server":  {wire(t, layeh.New(layeh.CodeAccessAccept, secret)), false, "unexpected_code"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nas := router(localhost)
			nas.RequireMessageAuthenticator = c.require
			u := (&users{}).add(t, nas.Org, "amina", "pw")
			k := start(t, u, newLedger(), radius.Limits{}, nas)
			l, request := dial(t, localhost, k.server.AccessAddr()), c.request
			if c.result == "" {
				if answer := l.ask(request, secret); answer.Code != layeh.CodeAccessAccept {
					t.Errorf("answered %v", answer.Code)
				}
				return
			}
			l.silent(beacon(t, request[1]+1), request)
			if diff := cmp.Diff(map[string]int{c.result: 1, "alive": 1}, k.final("access")); diff != "" {
				t.Error(diff)
			}
			if u.count("amina") != 0 {
				t.Error("the directory was asked")
			}
			if list := k.told(); len(list) != 1 || list[radius.WrongSecret].Count > 0 &&
				len(list[radius.WrongSecret].Names) != 1 {
				t.Errorf("told %v", list)
			}
		})
	}
}

// eap is a request that begins EAP.
func eap(name string) *layeh.Packet {
	p := access(name)
	p.Add(rfc2869.EAPMessage_Type, layeh.Attribute("\x02\x00\x00\x06\x01a"))
	return p
}

// withAuthenticator adds a Message-Authenticator of zeros.
func withAuthenticator(p *layeh.Packet, size int) *layeh.Packet {
	p.Add(rfc2869.MessageAuthenticator_Type, make(layeh.Attribute, size))
	return p
}

// changed changes an octet of the user's name.
func changed(request []byte) []byte {
	request[23] ^= 1
	return request
}

func TestSender_OfAClaimedAddressIsKnownByItsSecret(t *testing.T) {
	t.Parallel()
	first, second := router(), router()
	first.Claimed, second.Claimed = claims(localhost), claims(localhost)
	second.Secret = secondSecret
	u := (&users{}).add(t, first.Org, "amina", "first").add(t, second.Org, "amina", "second")
	sink := newLedger()
	k := start(t, u, sink, radius.Limits{}, first, second)
	l := dial(t, localhost, k.server.AccessAddr())
	for _, c := range []struct {
		nas      *radius.NAS
		password string
		want     layeh.Code
	}{
		{first, "first", layeh.CodeAccessAccept}, {first, "second", layeh.CodeAccessReject},
		{second, "second", layeh.CodeAccessAccept}, {second, "first", layeh.CodeAccessReject},
	} {
		key := c.nas.Secret
		answer := l.ask(signed(t, pap(t, "amina", c.password, key), key), key)
		if answer.Code != c.want || u.last(t).NAS != c.nas {
			t.Errorf("%s: %v, of the right router: %v", c.password, answer.Code, u.last(t).NAS == c.nas)
		}
	}
	accounting := dial(t, localhost, k.server.AccountingAddr())
	accounting.ask(wire(t, report(secondSecret, rfc2866.AcctStatusType_Value_Start)), secondSecret)
	if record := <-sink.records; record.NAS != second {
		t.Error("accounting went to the wrong organization")
	}
	bare := wire(t, pap(t, "amina", "first", secret))
	stranger := signed(t, pap(t, "amina", "first", secret), wrongSecret)
	l.silent(beacon(t, bare[1]+stranger[1]+1), bare, stranger)
	accounting.silent(beacon(t, 0), wire(t, numbered(report(wrongSecret, rfc2866.AcctStatusType_Value_Stop), 1)))
	got := k.final("access")
	if got["unproven"] != 1 || got["wrong_secret"] != 1 || k.final("accounting")["wrong_secret"] != 1 {
		t.Errorf("counted %v and %v", got, k.final("accounting"))
	}
}

// numbered sets the identifier, where a test must know that two differ or are equal.
func numbered(p *layeh.Packet, identifier byte) *layeh.Packet {
	p.Identifier = identifier
	return p
}

func TestSender_ClaimingAnothersAddressTakesNothingFromIt(t *testing.T) {
	t.Parallel()
	owner, rival, old := router(localhost), router(), router()
	rival.Claimed, rival.Secret = claims(localhost, neighbour), secondSecret
	old.Claimed = claims(neighbour)
	second := router()
	second.Claimed = claims(neighbour) // with the same secret as the older one
	u := &users{}
	for _, nas := range []*radius.NAS{owner, rival, old, second} {
		u.add(t, nas.Org, "amina", "pw")
	}
	k := start(t, u, newLedger(), radius.Limits{}, owner, rival, old, second)
	l := dial(t, localhost, k.server.AccessAddr())
	if l.ask(wire(t, pap(t, "amina", "pw", secret)), secret); u.last(t).NAS != owner {
		t.Error("the owner of the address was not asked about")
	}
	foreign := signed(t, numbered(pap(t, "amina", "pw", secondSecret), 1), secondSecret)
	l.silent(beacon(t, 2), foreign)
	l = dial(t, neighbour, k.server.AccessAddr())
	if l.ask(signed(t, pap(t, "amina", "pw", secret), secret), secret); u.last(t).NAS != old {
		t.Error("the later of two with one secret was taken")
	}
}

// TestSender_OfOneSecretIsTheOneWhoClaimedFirst: a neighbour that was registered before moves to the address and
// guesses the secret there. The packets go on to be those of the router that was there. One of two secrets of a router
// can be a later claim than the other.
func TestSender_OfOneSecretIsTheOneWhoClaimedFirst(t *testing.T) {
	t.Parallel()
	rival, there := router(), router()
	rival.Claimed = []radius.Claim{{Addr: localhost, Since: 9}}
	there.Claimed = []radius.Claim{{Addr: localhost, Since: 5}}
	next := *there
	next.Secret, next.Claimed = secondSecret, []radius.Claim{{Addr: localhost, Since: 12}}
	late := router()
	late.Secret, late.Claimed = secondSecret, []radius.Claim{{Addr: localhost, Since: 11}}
	u := (&users{}).add(t, there.Org, "amina", "pw").add(t, late.Org, "amina", "pw")
	k := start(t, u, newLedger(), radius.Limits{}, rival, there, &next, late)
	l := dial(t, localhost, k.server.AccessAddr())
	for key, want := range map[string]*radius.NAS{string(secret): there, string(secondSecret): late} {
		answer := l.ask(signed(t, pap(t, "amina", "pw", []byte(key)), []byte(key)), []byte(key))
		if answer.Code != layeh.CodeAccessAccept || u.last(t).NAS != want {
			t.Errorf("%s: %v, of the first claimant: %v", key, answer.Code, u.last(t).NAS == want)
		}
	}
}

func TestSender_OfAnUnknownAddressGetsNothing(t *testing.T) {
	t.Parallel()
	nas, empty := router(localhost), router(neighbour)
	empty.Secret = nil
	u := (&users{}).add(t, nas.Org, "amina", "pw")
	k := start(t, u, newLedger(), radius.Limits{}, nas, empty)
	l := dial(t, neighbour, k.server.AccessAddr())
	l.send(signed(t, access("amina"), nil))
	l.send(signed(t, pap(t, "amina", "pw", secret), secret))
	moved := router(neighbour)
	k.until("access", radius.UnknownNAS, 2)
	k.server.SetNAS([]*radius.NAS{moved})
	if answer := l.ask(beacon(t, 7), secret); answer.Code != layeh.CodeAccessAccept {
		t.Errorf("after it became known: %v", answer.Code)
	}
	n := k.told()[radius.UnknownNAS]
	if n.Count != 2 || n.Source != neighbour || n.NAS != nil || !n.First.Equal(noon) || n.Names["amina"] != 2 {
		t.Errorf("told %+v", n)
	}
}

func TestSender_APasswordThatNobodyTypedMakesTheSecretDoubtful(t *testing.T) {
	t.Parallel()
	nas := router(localhost)
	k := start(t, (&users{}).add(t, nas.Org, "amina", "pw"), newLedger(), radius.Limits{}, nas)
	l := dial(t, localhost, k.server.AccessAddr())
	for i := range 20 { // a few of the decrypted passwords can be text by chance
		p := pap(t, "amina", "correct horse battery", wrongSecret)
		p.Identifier = byte(i)
		l.send(wire(t, p))
		l.receive()
	}
	if n := k.told()[radius.SecretDoubtful]; n.Count < 10 || n.NAS != nas {
		t.Errorf("told %+v", n)
	}
}

func TestBlastRADIUS_AnInjectedProxyStateCannotTurnAReject(t *testing.T) {
	t.Parallel()
	nas := router(localhost)
	k := start(t, (&users{}).add(t, nas.Org, "amina", "pw"), newLedger(), radius.Limits{}, nas)
	l := dial(t, localhost, k.server.AccessAddr())
	p := pap(t, "amina", "wrong", secret)
	p.Add(rfc2865.ProxyState_Type, bytes.Repeat([]byte{0xaa}, 200)) // the block of a collision, chosen by the attacker
	request := wire(t, p)
	answer := l.ask(request, secret) // begins with a Message-Authenticator, which the attacker cannot foresee
	if answer.Code != layeh.CodeAccessReject {
		t.Fatal(answer.Code)
	}
	strict := *nas
	strict.RequireMessageAuthenticator = true
	k.server.SetNAS([]*radius.NAS{&strict})
	p.Identifier++
	l.silent(beacon(t, p.Identifier+1), wire(t, p))
}

func TestDecoder_BombsOfAttributesAreDroppedOrHarmless(t *testing.T) {
	t.Parallel()
	nas := router(localhost)
	k := start(t, (&users{}).add(t, nas.Org, "amina", "pw"), newLedger(), radius.Limits{}, nas)
	l := dial(t, localhost, k.server.AccessAddr())
	with := func(identifier byte, tail ...byte) []byte {
		out := append(wire(t, numbered(pap(t, "amina", "pw", secret), identifier)), tail...)
		binary.BigEndian.PutUint16(out[2:], uint16(min(len(out), 65535)))
		return out
	}
	long := with(3)
	binary.BigEndian.PutUint16(long[2:], uint16(len(long)+1))
	short := with(4)
	binary.BigEndian.PutUint16(short[2:], 19)
	bad := [][]byte{
		{}, []byte("hello"), with(1, 26, 0), with(2, 26, 1, 0), long, short, with(5, 26), with(6, 26, 200, 1),
		with(7, make([]byte, 4096)...), with(8, bytes.Repeat([]byte{33, 2}, 2100)...),
	}
	l.silent(beacon(t, 99), bad...)
	if got := k.results("access")["malformed"]; got != len(bad) {
		t.Errorf("%d of %d are malformed", got, len(bad))
	}
	for name, tail := range map[string][]byte{
		"empty values":           bytes.Repeat([]byte{1, 2, 24, 2, 26, 2}, 50),
		"2,000 attributes":       bytes.Repeat([]byte{200, 2}, 2000),
		"vendor without number":  {26, 5, 0, 0, 1},
		"vendor of nothing":      {26, 6, 0, 0, 1, 55},
		"broken within a vendor": {26, 8, 0, 0, 1, 55, 11, 99},
		"zero within a vendor":   {26, 9, 0, 0, 1, 55, 11, 0, 1},
		"one within a vendor":    {26, 8, 0, 0, 58, 140, 10, 1},
		"other form of a vendor": {26, 10, 0, 0, 0, 9, 255, 255, 255, 255},
		"255 of one":             bytes.Repeat([]byte{31, 3, 'x'}, 255),
	} {
		request := with(9, tail...)
		if answer := l.ask(request, secret); answer.Code != layeh.CodeAccessAccept {
			t.Errorf("%s: %v", name, answer.Code)
		}
	}
	padded := append(wire(t, pap(t, "amina", "pw", secret)), 1, 2, 3, 0, 0)
	if answer := l.ask(padded, secret); answer.Code != layeh.CodeAccessAccept {
		t.Errorf("padded: %v", answer.Code)
	}
}

func TestPanic_DropsOnePacketOnly(t *testing.T) {
	t.Parallel()
	nas := router(localhost)
	k := start(t, (&users{}).add(t, nas.Org, "amina", "pw"), newLedger(), radius.Limits{}, nas)
	l := dial(t, localhost, k.server.AccessAddr())
	bomb := wire(t, numbered(pap(t, "bomb", "pw", secret), 1))
	l.silent(beacon(t, 2), bomb, bomb)
	if answer := l.ask(wire(t, pap(t, "amina", "pw", secret)), secret); answer.Code != layeh.CodeAccessAccept {
		t.Error(answer.Code)
	}
	accounting := dial(t, localhost, k.server.AccountingAddr())
	record := numbered(report(secret, rfc2866.AcctStatusType_Value_Start), 1)
	rfc2865.UserName_SetString(record, "bomb")
	accounting.silent(beacon(t, 2), wire(t, record), wire(t, record))
	if k.final("access")["panicked"] != 2 || k.final("accounting")["panicked"] != 2 {
		t.Errorf("counted %v and %v", k.final("access"), k.final("accounting"))
	}
}
