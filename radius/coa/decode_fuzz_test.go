package coa

import (
	"testing"

	"layeh.com/radius"
)

func FuzzDecode(f *testing.F) {
	secret := []byte("xyzzy5461")
	request, err := encode(radius.CodeDisconnectRequest, secret, Session{UserName: "amina"}, nil)
	if err != nil {
		f.Fatal(err)
	}
	p, err := radius.Parse(request, secret)
	if err != nil {
		f.Fatal(err)
	}
	for _, code := range []radius.Code{radius.CodeDisconnectACK, radius.CodeDisconnectNAK, radius.CodeCoAACK} {
		answer := p.Response(code)
		answer.Add(101, radius.NewInteger(503))
		answer.Add(80, make(radius.Attribute, 16))
		genuine, err := answer.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(genuine)
	}
	f.Add([]byte{})
	f.Add(request)
	f.Fuzz(func(t *testing.T, datagram []byte) {
		if answer, ok := decode(datagram, request, secret); ok {
			t.Errorf("an answer that nobody signed was taken: %+v", answer)
		}
	})
}
