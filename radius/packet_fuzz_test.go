package radius

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"net/netip"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2759"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// hmacMD5 is the sum by the standard library.
func hmacMD5(key, message []byte) []byte {
	sum := hmac.New(md5.New, key)
	sum.Write(message)
	return sum.Sum(nil)
}

// seeds are packets of all kinds and broken ones.
func seeds(t testing.TB, w *worker) [][]byte {
	t.Helper()
	good := signIn(t, w, "pw")
	header := func(code byte, attributes ...byte) []byte {
		out := append([]byte{code, 7, 0, byte(headerSize + len(attributes))}, make([]byte, 16)...)
		return append(out, attributes...)
	}
	return [][]byte{
		good, good[:len(good)-1], append(bytes.Clone(good), 0, 0), {}, {1}, header(1), header(4), header(12),
		header(1, 1, 0), header(1, 1, 1), header(1, 1, 2), header(1, 1, 9, 'a'), header(1, 80, 2), header(1, 80, 18),
		header(1, 26, 6, 0, 0, 1, 55), header(1, 26, 9, 0, 0, 1, 55, 11, 9, 1), header(1, 26, 8, 0, 0, 58, 140, 10, 0),
		header(4, 40, 6, 0, 0, 0, 1, 44, 3, 'x'), header(4, 40, 3, 1), header(4, 97, 4, 0, 129),
		header(4, 97, 4, 0, 64),
		header(4, 123, 21, 0, 128, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17),
		header(4, 8, 6, 10, 0, 0, 7, 42, 6, 255, 255, 255, 255, 52, 6, 0, 0, 0, 1, 55, 6, 255, 255, 255, 255),
		header(1, bytes.Repeat([]byte{33, 2}, 100)...),
	}
}

func FuzzParse(f *testing.F) {
	w, _ := bench(f, clock.NewManual(time.Unix(1e9, 0)), Limits{})
	for _, seed := range seeds(f, w) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, datagram []byte) {
		packet, err := cut(datagram)
		if err != nil {
			return
		}
		var r Request
		before := bytes.Clone(packet)
		ours := r.parse(packet, time.Unix(1e9, 0))
		library, theirs := radius.Parse(packet, nil)
		if theirs != nil && ours == nil {
			t.Fatalf("the library refuses %x: %v", packet, theirs)
		}
		if ours != nil {
			return
		}
		if name := library.Get(1); len(name) > 0 && r.found&seenUserName == 0 {
			t.Errorf("the name %q was not read", name)
		}
		if got := echoProxies(nil, &r); r.proxies > 0 != (len(got) > 0) {
			t.Errorf("%d Proxy-States give %x", r.proxies, got)
		}
		if r.ma != 0 && (r.ma < headerSize+2 || r.ma+md5.Size > len(packet)) {
			t.Errorf("Message-Authenticator at %d of %d", r.ma, len(packet))
		}
		if w.newRecord(w.server.known.Load().sources[netip.MustParseAddr("127.0.0.1")].clients[0], &r) == nil ||
			!bytes.Equal(before, packet) {
			t.Errorf("the packet %x became %x", before, packet)
		}
	})
}

func FuzzPacket(f *testing.F) {
	w, from := bench(f, clock.NewManual(time.Unix(1e9, 0)), Limits{Rate: 1e9})
	for _, seed := range seeds(f, w) {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	c := w.server.known.Load().sources[netip.MustParseAddr("127.0.0.1")].clients[0]
	f.Fuzz(func(t *testing.T, datagram []byte, sign bool) {
		datagram = bytes.Clone(datagram[:min(len(datagram), maxPacket)])
		if packet, err := cut(datagram); err == nil && sign {
			var r Request
			if r.parse(packet, time.Time{}) == nil && r.ma != 0 {
				clear(packet[r.ma : r.ma+md5.Size])
				copy(packet[r.ma:], hmacMD5(c.Secret, packet))
			}
			if packet[0] == 4 {
				clear(packet[4:headerSize])
				sum := md5.Sum(append(bytes.Clone(packet), c.Secret...))
				copy(packet[4:], sum[:])
			}
		}
		for _, w.port = range []port{accessPort, accountingPort} {
			w.from, w.now = from, time.Unix(1e9, 0)
			result := w.take(datagram) // a panic fails the test, since nothing recovers here
			if code := w.reply.buffer[0]; result == Accepted && code != 2 || result == Rejected && code != 3 {
				t.Errorf("%v with the code %d", result, code)
			}
		}
	})
}

func FuzzProof(f *testing.F) {
	w, _ := bench(f, clock.NewManual(time.Unix(1e9, 0)), Limits{})
	c := w.server.known.Load().sources[netip.MustParseAddr("127.0.0.1")].clients[0]
	cred := newEverybody(f).cred
	challenge := []byte("challenge of ISP")
	response := make([]byte, msResponseSize)
	peerHash := rfc2759.ChallengeHash(response[2:18], challenge, []byte("amina"))
	copy(response[ntResponseAt:], rfc2759.ChallengeResponse(peerHash, cred.NTHash[:]))
	for kind := range byte(5) {
		f.Add(kind, []byte("amina"), response, challenge)
		f.Add(kind, []byte(`HOME\amina`), bytes.Repeat([]byte("x"), 16), []byte{})
		f.Add(kind, []byte{}, []byte{}, []byte("8 octets"))
	}
	f.Fuzz(func(t *testing.T, kind byte, name, proof, challenge []byte) {
		list := Attributes(append([]byte{1, kind, 0, 0}, make([]byte, 16)...)).Octets(1, name)
		asked := append(Attributes(nil), list...).Vendor(VendorMicrosoft, msCHAPChallenge, challenge)
		switch kind % 5 {
		case 0:
			list = list.Octets(2, proof)
		case 1:
			list = list.Octets(3, proof).Octets(60, challenge)
		case 2:
			list = asked.Vendor(VendorMicrosoft, msCHAPResponse, proof)
		case 3:
			list = asked.Vendor(VendorMicrosoft, msCHAP2Response, proof)
		case 4:
			list = append(list, proof[:min(len(proof), 1000)]...)
		}
		var r Request
		if r.parse(list, time.Unix(1e9, 0)) != nil {
			return
		}
		q := Question{NAS: c.NAS, Request: &r, Credential: cred, Outcome: w.verify(c, &r, cred)}
		w.reply.begin()
		w.reply.Accept(nil)
		w.reply.EncryptionKeys()
		answer, err := w.finish(c, q)
		if err != nil || answer == nil {
			t.Fatalf("%x, %v", answer, err)
		}
		if accepted := answer[0] == 2; accepted != (q.Outcome == Verified) {
			t.Errorf("%v is answered by %d", q.Outcome, answer[0])
		}
		if _, err := radius.Parse(answer, c.Secret); err != nil {
			t.Errorf("the library refuses the answer: %v", err)
		}
	})
}

func FuzzParseMAC(f *testing.F) {
	for _, seed := range []string{"a4:17:31:41:cb:b6", "A417.3141.CBB6", "------------", "", "0"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		mac, ok := ParseMAC(text)
		again, same := ParseMAC([]byte(mac.String()))
		if ok && (again != mac || !same) || !ok && mac != (MAC{}) {
			t.Errorf("%q is %v, then %v", text, mac, again)
		}
	})
}
