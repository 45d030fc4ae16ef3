package radius_test

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	layeh "layeh.com/radius"
	"layeh.com/radius/rfc2759"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/rfc3079"
	"layeh.com/radius/vendors/microsoft"

	"github.com/lastmile-isp/lastmile/radius"
)

// proofs add a proof of a password to an Access-Request, in each form that routers send.
var proofs = map[string]func(t *testing.T, p *layeh.Packet, password string){
	"PAP": func(t *testing.T, p *layeh.Packet, password string) {
		value, err := layeh.NewUserPassword([]byte(password), secret, p.Authenticator[:])
		if err != nil {
			t.Fatal(err)
		}
		p.Add(rfc2865.UserPassword_Type, value)
	},
	"CHAP": func(_ *testing.T, p *layeh.Packet, password string) {
		challenge := []byte("a challenge of 16")[:16]
		p.Add(rfc2865.CHAPChallenge_Type, challenge)
		p.Add(rfc2865.CHAPPassword_Type, chapAnswer(password, challenge))
	},
	"CHAP with the authenticator": func(_ *testing.T, p *layeh.Packet, password string) {
		p.Add(rfc2865.CHAPPassword_Type, chapAnswer(password, p.Authenticator[:]))
	},
	"MS-CHAP": func(t *testing.T, p *layeh.Packet, password string) {
		challenge := []byte("8 octets")
		response := make([]byte, 50)
		response[0], response[1] = 7, 1
		copy(response[26:], rfc2759.ChallengeResponse(challenge, ntHash(t, password)))
		if err := microsoft.MSCHAPChallenge_Add(p, challenge); err != nil {
			t.Fatal(err)
		}
		if err := microsoft.MSCHAPResponse_Add(p, response); err != nil {
			t.Fatal(err)
		}
	},
	"MS-CHAPv2": func(t *testing.T, p *layeh.Packet, password string) {
		response := make([]byte, 50)
		response[0] = 9
		copy(response[2:], peer)
		answer, err := rfc2759.GenerateNTResponse(authChallenge, peer, rfc2865.UserName_Get(p), []byte(password))
		if err != nil {
			t.Fatal(err)
		}
		copy(response[26:], answer)
		if err := microsoft.MSCHAPChallenge_Add(p, authChallenge); err != nil {
			t.Fatal(err)
		}
		if err := microsoft.MSCHAP2Response_Add(p, response); err != nil {
			t.Fatal(err)
		}
	},
}

// The challenges of both sides in version 2 of MS-CHAP.
var (
	authChallenge = []byte("challenge of ISP")
	peer          = []byte("challenge of CPE")
)

// chapAnswer is the value of CHAP-Password with the identifier 5.
func chapAnswer(password string, challenge []byte) layeh.Attribute {
	sum := md5.Sum(append(append([]byte{5}, password...), challenge...))
	return append(layeh.Attribute{5}, sum[:]...)
}

// ntHash is the hash of a password by the library.
func ntHash(t *testing.T, password string) []byte {
	t.Helper()
	wide, err := rfc2759.ToUTF16([]byte(password))
	if err != nil {
		t.Fatal(err)
	}
	return rfc2759.NTPasswordHash(wide)
}

func TestSignIn_EachMethodProvesTheRightPasswordOnly(t *testing.T) {
	t.Parallel()
	nas := router(localhost)
	u := &users{prepared: radius.Attributes{}.Number(rfc2865.SessionTimeout_Type, 600)}
	u.add(t, nas.Org, "amina", "pépé 1")
	k := start(t, u, newLedger(), radius.Limits{}, nas)
	for name, prove := range proofs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := dial(t, localhost, k.server.AccessAddr())
			good, bad, stranger := access("amina"), access("amina"), access("joseph")
			prove(t, good, "pépé 1")
			prove(t, bad, "pépé 2")
			prove(t, stranger, "pépé 1")
			answer := l.ask(signed(t, good, secret), secret)
			if answer.Code != layeh.CodeAccessAccept || rfc2865.SessionTimeout_Get(answer) != 600 {
				t.Errorf("right password: %v", answer.Code)
			}
			for what, p := range map[string]*layeh.Packet{"wrong password": bad, "unknown user": stranger} {
				answer := l.ask(wire(t, p), secret)
				if answer.Code != layeh.CodeAccessReject || rfc2865.ReplyMessage_GetString(answer) == "" {
					t.Errorf("%s: %v, message %q", what, answer.Code, rfc2865.ReplyMessage_GetString(answer))
				}
				failure := microsoft.MSCHAPError_Get(answer)
				if strings.HasPrefix(name, "MS-CHAP") != bytes.Contains(failure, []byte("E=691 R=0")) {
					t.Errorf("%s: MS-CHAP-Error %q", what, failure)
				}
			}
		})
	}
}

func TestSignIn_MSCHAPAsTheStandardCountsIt(t *testing.T) {
	t.Parallel()
	octets := func(text string) []byte {
		out, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	nas := router(localhost)
	k := start(t, (&users{keys: true}).add(t, nas.Org, "User", "MyPw"), newLedger(), radius.Limits{}, nas)
	p := access("User") // the example of RFC 2433, B.2
	if err := microsoft.MSCHAPChallenge_Add(p, octets("102db5df085d3041")); err != nil {
		t.Fatal(err)
	}
	response := append(append([]byte{1, 1}, make([]byte, 24)...),
		octets("4e9d3c8f9cfd385d5bf4d3246791956ca4c351ab409a3d61")...)
	if err := microsoft.MSCHAPResponse_Add(p, response); err != nil {
		t.Fatal(err)
	}
	answer := dial(t, localhost, k.server.AccessAddr()).ask(wire(t, p), secret)
	if answer.Code != layeh.CodeAccessAccept {
		t.Fatal(answer.Code)
	}
	hash, err := radius.NTHash("MyPw")
	if err != nil || !bytes.Equal(hash[:], octets("fc156af7edcd6c0edde3337d427f4eac")) {
		t.Errorf("hash %x, %v", hash, err)
	}
	keys := append(append(make([]byte, 8), rfc2759.NTPasswordHash(hash[:])...), make([]byte, 8)...)
	var hidden []byte
	for _, a := range answer.Attributes {
		if value := a.Attribute; a.Type == rfc2865.VendorSpecific_Type && value[4] == 12 {
			hidden = value[6:]
		}
	}
	last := p.Authenticator[:]
	for i := 0; i < len(hidden); i += 16 { // RFC 2548, 2.4.1
		sum := md5.Sum(append(append([]byte(nil), secret...), last...))
		last = hidden[i : i+16]
		for j, octet := range last {
			keys[i+j] ^= octet ^ sum[j]
		}
	}
	if len(hidden) != 32 || !bytes.Equal(keys, make([]byte, 32)) {
		t.Errorf("keys %x", hidden)
	}
}

func TestSignIn_MSCHAP2ProvesTheServerAndGivesKeys(t *testing.T) {
	t.Parallel()
	nas := router(localhost)
	u := (&users{keys: true}).add(t, nas.Org, "amina", "clientPass")
	k := start(t, u, newLedger(), radius.Limits{}, nas)
	p := access("amina")
	proofs["MS-CHAPv2"](t, p, "clientPass")
	request := signed(t, p, secret)
	answer := dial(t, localhost, k.server.AccessAddr()).ask(request, secret)
	response := microsoft.MSCHAP2Response_Get(p)
	want, err := rfc2759.GenerateAuthenticatorResponse(authChallenge, peer, response[26:], []byte("amina"),
		[]byte("clientPass"))
	if err != nil {
		t.Fatal(err)
	}
	if got := microsoft.MSCHAP2Success_Get(answer); string(got) != "\x09"+want {
		t.Errorf("success %q, want %q", got, want)
	}
	answer.Authenticator = p.Authenticator // with which the keys are hidden
	for send, got := range map[bool][]byte{
		true: microsoft.MSMPPESendKey_Get(answer, p), false: microsoft.MSMPPERecvKey_Get(answer, p),
	} {
		want, err := rfc3079.MakeKey(response[26:], []byte("clientPass"), send)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("key of sending %v: %x, want %x", send, got, want)
		}
	}
}

func TestSignIn_AWindowsDomainIsNoPartOfTheProof(t *testing.T) {
	t.Parallel()
	nas := router(localhost)
	u := (&users{}).add(t, nas.Org, `HOME\amina`, "pw")
	k := start(t, u, newLedger(), radius.Limits{}, nas)
	p := access("amina")
	proofs["MS-CHAPv2"](t, p, "pw")
	rfc2865.UserName_SetString(p, `HOME\amina`)
	answer := dial(t, localhost, k.server.AccessAddr()).ask(wire(t, p), secret)
	want, err := rfc2759.GenerateAuthenticatorResponse(authChallenge, peer, microsoft.MSCHAP2Response_Get(p)[26:],
		[]byte("amina"), []byte("pw"))
	if got := microsoft.MSCHAP2Success_Get(answer); err != nil || string(got) != "\x09"+want {
		t.Errorf("%v: success %q, want %q (%v)", answer.Code, got, want, err)
	}
}

func TestSignIn_PasswordsUpTo128Octets(t *testing.T) {
	t.Parallel()
	nas := router(localhost)
	u := &users{}
	for _, n := range []int{1, 15, 16, 17, 127, 128} {
		u.add(t, nas.Org, strings.Repeat("n", n), strings.Repeat("p", n))
	}
	k := start(t, u, newLedger(), radius.Limits{}, nas)
	l := dial(t, localhost, k.server.AccessAddr())
	for _, n := range []int{1, 15, 16, 17, 127, 128} {
		name, password := strings.Repeat("n", n), strings.Repeat("p", n)
		if answer := l.ask(wire(t, pap(t, name, password, secret)), secret); answer.Code != layeh.CodeAccessAccept {
			t.Errorf("%d octets: %v", n, answer.Code)
		}
		answer := l.ask(wire(t, pap(t, name, password[1:], secret)), secret)
		if answer.Code != layeh.CodeAccessReject {
			t.Errorf("%d octets without the first: %v", n, answer.Code)
		}
	}
}

func TestSignIn_ContradictionsAreRejected(t *testing.T) {
	t.Parallel()
	nas := router(localhost)
	u := (&users{}).add(t, nas.Org, "amina", "pw").add(t, nas.Org, "empty", "")
	k := start(t, u, newLedger(), radius.Limits{}, nas)
	add := func(p *layeh.Packet, kind layeh.Type, value string) *layeh.Packet {
		p.Add(kind, layeh.Attribute(value))
		return p
	}
	vendor := func(p *layeh.Packet, number byte, size int) *layeh.Packet {
		value := append([]byte{0, 0, 1, 55, number, byte(size + 2)}, make([]byte, size)...)
		return add(p, rfc2865.VendorSpecific_Type, string(value))
	}
	x := func(n int) string { return strings.Repeat("x", n) }
	good := func() *layeh.Packet { return pap(t, "amina", "pw", secret) }
	nobody := layeh.New(layeh.CodeAccessRequest, secret)
	for name, c := range map[string]struct {
		p    *layeh.Packet
		want radius.Outcome
	}{
		"no proof":         {access("amina"), radius.NoProof},
		"EAP":              {add(access("amina"), rfc2869.EAPMessage_Type, "\x02\x00\x00\x05\x01"), radius.NoProof},
		"older hash alone": {vendor(vendor(access("amina"), 11, 8), 1, 50), radius.NoProof},
		"two methods":      {add(good(), rfc2865.CHAPPassword_Type, x(17)), radius.BadRequest},
		"two names":        {add(good(), rfc2865.UserName_Type, "joseph"), radius.BadRequest},
		"two passwords":    {add(good(), rfc2865.UserPassword_Type, x(16)), radius.BadRequest},
		"short password":   {add(access("amina"), rfc2865.UserPassword_Type, "short"), radius.BadRequest},
		"long password":    {add(access("amina"), rfc2865.UserPassword_Type, x(144)), radius.BadRequest},
		"short CHAP":       {add(access("amina"), rfc2865.CHAPPassword_Type, "x"), radius.BadRequest},
		"MS-CHAP alone":    {vendor(access("amina"), 1, 50), radius.BadRequest},
		"MS-CHAPv2 alone":  {vendor(access("amina"), 25, 50), radius.BadRequest},
		"MS-CHAPv2, short": {vendor(vendor(access("amina"), 11, 16), 25, 20), radius.BadRequest},
		"MS-CHAP, long":    {vendor(vendor(access("amina"), 11, 16), 1, 50), radius.BadRequest},
		"no name":          {add(nobody, rfc2865.CHAPPassword_Type, x(17)), radius.BadRequest},
		"empty password":   {pap(t, "empty", "", secret), radius.WrongPassword},
	} {
		answer := dial(t, localhost, k.server.AccessAddr()).ask(signed(t, c.p, secret), secret)
		if q := u.last(t); answer.Code != layeh.CodeAccessReject || q.Outcome != c.want {
			t.Errorf("%s: %v, %v; want %v", name, answer.Code, q.Outcome, c.want)
		}
		if rfc2865.ReplyMessage_GetString(answer) == "" {
			t.Errorf("%s: no message", name)
		}
	}
}

// TestSignIn_AnAttributeThatDoesNotMatterKeepsNobodyOut: neither name nor proof is in it.
func TestSignIn_AnAttributeThatDoesNotMatterKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	nas := router(localhost)
	u := &users{}
	k := start(t, u.add(t, nas.Org, "amina", "pw"), newLedger(), radius.Limits{}, nas)
	for kind, value := range map[layeh.Type]string{
		rfc2865.NASPort_Type: "abc", rfc2865.FramedIPAddress_Type: "0123456789abcdef",
	} {
		p := pap(t, "amina", "pw", secret)
		p.Add(kind, layeh.Attribute(value))
		answer := dial(t, localhost, k.server.AccessAddr()).ask(signed(t, p, secret), secret)
		if answer.Code != layeh.CodeAccessAccept {
			t.Errorf("attribute %d: %v", kind, answer.Code)
		}
	}
}

func TestSignIn_AnAcceptHasPreparedAttributesAndThoseOfTheMoment(t *testing.T) {
	t.Parallel()
	nas := router(localhost)
	u := &users{
		prepared: radius.Attributes{}.Text(rfc2869.FramedPool_Type, "homes"),
		more: func(reply *radius.Reply) {
			reply.Add(rfc2865.SessionTimeout_Type, 600)
			reply.Append(radius.Attributes{}.Octets(rfc2865.Class_Type, []byte("class")))
		},
	}
	k := start(t, u.add(t, nas.Org, "amina", "pw"), newLedger(), radius.Limits{}, nas)
	l := dial(t, localhost, k.server.AccessAddr())
	for range 2 { // the second does not have those of the first
		answer := l.ask(wire(t, pap(t, "amina", "pw", secret)), secret)
		want := map[layeh.Type]string{
			rfc2869.FramedPool_Type: "homes", rfc2865.SessionTimeout_Type: "\x00\x00\x02\x58",
			rfc2865.Class_Type: "class",
		}
		got := map[layeh.Type]string{}
		for _, a := range answer.Attributes[1:] {
			got[a.Type] += string(a.Attribute)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestSignIn_AnAnswerThatFitsIntoNoPacketIsDropped(t *testing.T) {
	t.Parallel()
	nas := router(localhost)
	u := &users{prepared: make(radius.Attributes, 4096-38)}
	k := start(t, u.add(t, nas.Org, "amina", "pw"), newLedger(), radius.Limits{}, nas)
	l := dial(t, localhost, k.server.AccessAddr())
	l.send(wire(t, numbered(pap(t, "amina", "pw", secret), 1)))
	if answer := l.receive(); len(answer) != 4096 {
		t.Errorf("%d octets", len(answer))
	}
	u.mu.Lock()
	u.prepared = make(radius.Attributes, 4096-37)
	u.mu.Unlock()
	l.silent(beacon(t, 3), wire(t, numbered(pap(t, "amina", "pw", secret), 2)))
	if n := k.told()[radius.ReplyTooLong]; n.Count != 1 || n.NAS != nas {
		t.Errorf("told %+v", n)
	}
}

func TestSignIn_ARefusalTellsWhyWithoutLimitOfLength(t *testing.T) {
	t.Parallel()
	nas := router(localhost)
	why := strings.Repeat("Votre compte doit être payé. ", 20)
	u := (&users{refused: map[string]string{"amina": why}}).add(t, nas.Org, "amina", "pw")
	k := start(t, u, newLedger(), radius.Limits{}, nas)
	p := access("amina")
	proofs["MS-CHAPv2"](t, p, "pw")
	answer := dial(t, localhost, k.server.AccessAddr()).ask(wire(t, p), secret)
	messages, err := rfc2865.ReplyMessage_GetStrings(answer)
	if err != nil || strings.Join(messages, "") != why {
		t.Errorf("messages %q, %v", messages, err)
	}
	for _, m := range messages {
		if !utf8.ValidString(m) {
			t.Errorf("cut within a letter: %q", m)
		}
	}
	if failure := microsoft.MSCHAPError_Get(answer); !bytes.Contains(failure, []byte("E=649 R=0")) {
		t.Errorf("MS-CHAP-Error %q", failure)
	}
	if q := u.last(t); q.Outcome != radius.Verified || q.Credential.Subject != "amina" {
		t.Errorf("asked with %v, %+v", q.Outcome, q.Credential)
	}
}

func TestSignIn_ProxyStatesComeBackInOrder(t *testing.T) {
	t.Parallel()
	nas := router(localhost)
	u := (&users{prepared: radius.Attributes{}.Text(rfc2865.FilterID_Type, strings.Repeat("x", 60))})
	k := start(t, u.add(t, nas.Org, "amina", "pw"), newLedger(), radius.Limits{}, nas)
	l := dial(t, localhost, k.server.AccessAddr())
	for _, password := range []string{"pw", "wrong"} {
		p := pap(t, "amina", password, secret)
		for _, state := range []string{"first", "second", "first"} {
			p.Add(rfc2865.ProxyState_Type, layeh.Attribute(state))
		}
		answer := l.ask(signed(t, p, secret), secret)
		states, err := rfc2865.ProxyState_GetStrings(answer)
		if diff := cmp.Diff([]string{"first", "second", "first"}, states); diff != "" || err != nil {
			t.Errorf("%s: %s, %v", password, diff, err)
		}
	}
	bomb := pap(t, "amina", "pw", secret)
	for range 15 {
		bomb.Add(rfc2865.ProxyState_Type, make(layeh.Attribute, 253))
	}
	bomb.Add(rfc2865.ProxyState_Type, make(layeh.Attribute, 180))
	l.silent(beacon(t, 1+bomb.Identifier), wire(t, bomb))
	if got := k.final("access")["reply_too_long"]; got != 1 {
		t.Errorf("%d answers were too long", got)
	}
}
