package coa_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/md5"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	layeh "layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/rfc3576"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/radius/coa"
)

// TestMain finds goroutines that were left behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secret is the secret of the simulated router.
var secret = []byte("xyzzy5461")

// session is the session that tests speak about.
var session = coa.Session{UserName: "amina", SessionID: "81a00012", FramedIP: netip.MustParseAddr("10.0.0.7")}

// router answers requests by a function, for each datagram a list of datagrams, until the test ends. It keeps what it
// got.
func router(t *testing.T, answer func(n int, request []byte) [][]byte) (coa.Router, chan []byte) {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	got, ended := make(chan []byte, 100), make(chan struct{})
	go func() {
		defer close(ended)
		buffer := make([]byte, 4096)
		for n := 1; ; n++ {
			size, from, err := conn.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return
			}
			got <- bytes.Clone(buffer[:size])
			for _, datagram := range answer(n, buffer[:size]) {
				_, _ = conn.WriteToUDPAddrPort(datagram, from)
			}
		}
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-ended
	})
	return coa.Router{Address: conn.LocalAddr().(*net.UDPAddr).AddrPort(), Secret: secret}, got
}

// reply makes an answer to a request, with a cause unless it is 0.
func reply(t *testing.T, request []byte, code layeh.Code, cause coa.Cause, secret []byte) []byte {
	t.Helper()
	p, err := layeh.Parse(request, secret)
	if err != nil {
		t.Error(err)
		return nil
	}
	answer := p.Response(code)
	if cause != 0 {
		answer.Add(rfc3576.ErrorCause_Type, layeh.NewInteger(uint32(cause)))
	}
	out, err := answer.Encode()
	if err != nil {
		t.Error(err)
	}
	return out
}

func TestAsk_ARequestIsSignedAndNamesTheSession(t *testing.T) {
	t.Parallel()
	to, got := router(t, func(_ int, request []byte) [][]byte {
		return [][]byte{reply(t, request, layeh.Code(request[0])+1, 0, secret)}
	})
	client := &coa.Client{Local: netip.MustParseAddr("127.0.0.1")}
	changes := radius.Attributes{}.MikroTik(8, "5M/10M").Number(rfc2865.SessionTimeout_Type, 60)
	end := func() (coa.Answer, error) { return client.Disconnect(t.Context(), to, session) }
	change := func() (coa.Answer, error) { return client.Change(t.Context(), to, session, changes) }
	for code, ask := range map[layeh.Code]func() (coa.Answer, error){
		layeh.CodeDisconnectRequest: end, layeh.CodeCoARequest: change,
	} {
		answer, err := ask()
		if err != nil || !answer.Done || answer.Gone() {
			t.Errorf("%v: %+v, %v", code, answer, err)
		}
		request := <-got
		p, err := layeh.Parse(request, secret)
		if err != nil || p.Code != code || !layeh.IsAuthenticRequest(request, secret) {
			t.Fatalf("request %x of code %v, %v", request, p.Code, err)
		}
		if request[20] != byte(rfc2869.MessageAuthenticator_Type) {
			t.Error("the Message-Authenticator is not the first attribute")
		}
		unsigned := bytes.Clone(request)
		clear(unsigned[4:20])
		clear(unsigned[22:38])
		sum := hmac.New(md5.New, secret)
		sum.Write(unsigned)
		if !hmac.Equal(sum.Sum(nil), request[22:38]) {
			t.Error("the Message-Authenticator is wrong")
		}
		have := coa.Session{UserName: rfc2865.UserName_GetString(p), SessionID: rfc2866.AcctSessionID_GetString(p)}
		have.FramedIP, _ = netip.AddrFromSlice(rfc2865.FramedIPAddress_Get(p))
		if have != session {
			t.Errorf("%v names %+v", code, have)
		}
		if changed := bytes.HasSuffix(request, changes); changed != (code == layeh.CodeCoARequest) {
			t.Errorf("%v has changes: %v", code, changed)
		}
	}
}

func TestAsk_ARefusalHasItsCause(t *testing.T) {
	t.Parallel()
	for cause, name := range map[coa.Cause]string{
		coa.UnsupportedAttribute: "Unsupported-Attribute", coa.MissingAttribute: "Missing-Attribute",
		coa.NASMismatch: "NAS-Identification-Mismatch", coa.InvalidRequest: "Invalid-Request",
		coa.UnsupportedService: "Unsupported-Service", coa.UnsupportedExtension: "Unsupported-Extension",
		coa.InvalidValue: "Invalid-Attribute-Value", coa.Prohibited: "Administratively-Prohibited",
		coa.SessionNotFound: "Session-Context-Not-Found", coa.SessionNotRemovable: "Session-Context-Not-Removable",
		coa.ResourcesUnavailable: "Resources-Unavailable",
		coa.SeveralSessions:      "Multiple-Session-Selection-Unsupported", 0: "",
	} {
		to, _ := router(t, func(_ int, request []byte) [][]byte {
			return [][]byte{reply(t, request, layeh.CodeDisconnectNAK, cause, secret)}
		})
		answer, err := (&coa.Client{}).Disconnect(t.Context(), to, session)
		if err != nil || answer.Done || answer.Cause != cause || answer.Gone() != (cause == coa.SessionNotFound) {
			t.Errorf("%v: %+v, %v", cause, answer, err)
		}
		if answer.Cause.String() != name {
			t.Errorf("%d is named %q, want %q", cause, answer.Cause, name)
		}
	}
}

func TestAsk_ALostRequestIsRepeatedOctetForOctet(t *testing.T) {
	t.Parallel()
	to, got := router(t, func(n int, request []byte) [][]byte {
		if n < 3 {
			return nil
		}
		return [][]byte{reply(t, request, layeh.CodeDisconnectACK, 0, secret)}
	})
	answer, err := (&coa.Client{Pause: time.Millisecond, Tries: 20}).Disconnect(t.Context(), to, session)
	if err != nil || !answer.Done {
		t.Fatalf("%+v, %v", answer, err)
	}
	first := <-got
	for range 2 {
		if diff := cmp.Diff(first, <-got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAsk_AForgedAnswerDoesNotCount(t *testing.T) {
	t.Parallel()
	to, _ := router(t, func(_ int, request []byte) [][]byte {
		other := bytes.Clone(request)
		other[1]++
		good := reply(t, request, layeh.CodeDisconnectNAK, coa.SessionNotFound, secret)
		changed := bytes.Clone(good)
		changed[0] = byte(layeh.CodeDisconnectACK)
		replayed := bytes.Clone(request)
		replayed[4]++ // the answer to a request with another authenticator
		return [][]byte{
			nil, []byte("hello"), request, changed, good[:len(good)-1],
			reply(t, request, layeh.CodeDisconnectACK, 0, []byte("wrong")),
			reply(t, other, layeh.CodeDisconnectACK, 0, secret),
			reply(t, replayed, layeh.CodeDisconnectACK, 0, secret),
			reply(t, request, layeh.CodeCoAACK, 0, secret),
			reply(t, request, layeh.CodeAccessAccept, 0, secret),
			withAuthenticator(t, request, 16), withAuthenticator(t, request, 3), good,
		}
	})
	answer, err := (&coa.Client{}).Disconnect(t.Context(), to, session)
	if err != nil || answer.Done || !answer.Gone() {
		t.Errorf("%+v, %v", answer, err)
	}
}

// withAuthenticator makes an answer that acknowledges, with a wrong Message-Authenticator.
func withAuthenticator(t *testing.T, request []byte, size int) []byte {
	t.Helper()
	p, err := layeh.Parse(request, secret)
	if err != nil {
		t.Error(err)
		return nil
	}
	answer := p.Response(layeh.CodeDisconnectACK)
	answer.Add(rfc2869.MessageAuthenticator_Type, make(layeh.Attribute, size))
	out, err := answer.Encode()
	if err != nil {
		t.Error(err)
	}
	return out
}

func TestAsk_AnAnswerFromAnotherAddressDoesNotCount(t *testing.T) {
	t.Parallel()
	other, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 2)})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	asker := make(chan netip.AddrPort, 1)
	client := &coa.Client{Local: netip.MustParseAddr("127.0.0.3"), Tries: 1, Pause: time.Minute}
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() {
		buffer := make([]byte, 4096)
		n, from, err := conn.ReadFromUDPAddrPort(buffer)
		if err != nil {
			return
		}
		asker <- from
		_, _ = other.WriteToUDPAddrPort(reply(t, buffer[:n], layeh.CodeDisconnectACK, 0, secret), from)
		_, _ = conn.WriteToUDPAddrPort(reply(t, buffer[:n], layeh.CodeDisconnectNAK, coa.Prohibited, secret), from)
	}()
	to := coa.Router{Address: conn.LocalAddr().(*net.UDPAddr).AddrPort(), Secret: secret}
	answer, err := client.Disconnect(t.Context(), to, session)
	if err != nil || answer.Done || answer.Cause != coa.Prohibited {
		t.Errorf("%+v, %v", answer, err)
	}
	if from := <-asker; from.Addr() != client.Local {
		t.Errorf("asked from %v", from)
	}
}

// TestAsk_SilentRoutersOfOneOrganizationLeaveOthersTheirLateAnswers: one organization has more routers that answer
// nothing than answers are waited for at the same time.
func TestAsk_SilentRoutersOfOneOrganizationLeaveOthersTheirLateAnswers(t *testing.T) {
	t.Parallel()
	client := &coa.Client{Tries: 1, Pause: time.Millisecond}
	defer client.Close()
	listen := func() *net.UDPConn {
		conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	silent, late := listen(), listen()
	ask := func(conn *net.UDPConn, org id.Organization, heard func()) {
		to := coa.Router{
			Org: org, Address: conn.LocalAddr().(*net.UDPAddr).AddrPort(), Secret: secret, Late: heard,
		}
		if _, err := client.Disconnect(t.Context(), to, session); !errors.Is(err, coa.ErrNoAnswer) {
			t.Error(err)
		}
	}
	mine, theirs := id.New[id.Organization](), id.New[id.Organization]()
	for range 300 {
		ask(silent, mine, func() {})
	}
	heard := make(chan bool, 1)
	ask(late, theirs, func() { heard <- true })
	buffer := make([]byte, 4096)
	n, from, err := late.ReadFromUDPAddrPort(buffer)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := late.WriteToUDPAddrPort(reply(t, buffer[:n], layeh.CodeDisconnectACK, 0, secret), from); err != nil {
		t.Fatal(err)
	}
	select {
	case <-heard:
	case <-time.After(waittest.Limit):
		t.Error("the late answer of another organization's router is not heard")
	}
}

// TestAsk_ALateAnswerIsHeard: a router that answers after the last try is told to whoever asked, once, and the next
// request waits for it. A forged answer, and one of another port, is none.
func TestAsk_ALateAnswerIsHeard(t *testing.T) {
	t.Parallel()
	client := &coa.Client{Tries: 1, Pause: 20 * time.Millisecond}
	defer client.Close()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	other, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	heard := make(chan bool, 10)
	to := coa.Router{
		Address: conn.LocalAddr().(*net.UDPAddr).AddrPort(), Secret: secret, Late: func() { heard <- true },
	}
	if _, err := client.Disconnect(t.Context(), to, session); !errors.Is(err, coa.ErrNoAnswer) {
		t.Fatal(err)
	}
	buffer := make([]byte, 4096)
	n, from, err := conn.ReadFromUDPAddrPort(buffer)
	if err != nil {
		t.Fatal(err)
	}
	good := reply(t, buffer[:n], layeh.CodeDisconnectACK, 0, secret)
	_, _ = other.WriteToUDPAddrPort(good, from)
	_, _ = conn.WriteToUDPAddrPort(reply(t, buffer[:n], layeh.CodeDisconnectACK, 0, []byte("wrong")), from)
	select {
	case <-heard:
		t.Fatal("a forged answer, or one from another port, was heard")
	case <-time.After(20 * time.Millisecond):
	}
	_, _ = conn.WriteToUDPAddrPort(good, from)
	<-heard
	_, _ = conn.WriteToUDPAddrPort(good, from)
	answered := make(chan error, 1)
	go func() {
		n, from, err := conn.ReadFromUDPAddrPort(buffer)
		if err == nil {
			time.Sleep(2 * client.Pause)
			_, err = conn.WriteToUDPAddrPort(reply(t, buffer[:n], layeh.CodeDisconnectACK, 0, secret), from)
		}
		answered <- err
	}()
	if answer, err := client.Disconnect(t.Context(), to, session); err != nil || !answer.Done {
		t.Errorf("of a router that is known to be late: %+v, %v", answer, err)
	}
	if err := <-answered; err != nil || len(heard) != 0 {
		t.Errorf("%v, heard %d times more", err, len(heard))
	}
}

func TestAsk_SilenceIsNoAnswer(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 10)
	to, _ := router(t, func(int, []byte) [][]byte {
		asked <- struct{}{}
		return nil
	})
	_, err := (&coa.Client{Tries: 2, Pause: time.Millisecond}).Disconnect(t.Context(), to, session)
	if !errors.Is(err, coa.ErrNoAnswer) || len(asked) == 0 {
		t.Errorf("after all tries: %v", err)
	}
	for len(asked) > 0 {
		<-asked
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	_, err = (&coa.Client{Pause: time.Hour}).Disconnect(ctx, to, session)
	if !errors.Is(err, coa.ErrNoAnswer) || !errors.Is(err, context.Canceled) {
		t.Errorf("after the context: %v", err)
	}
	gone := coa.Router{Address: closedPort(t), Secret: secret}
	if _, err = (&coa.Client{Pause: time.Millisecond}).Disconnect(t.Context(), gone, session); !errors.Is(err,
		coa.ErrNoAnswer) {
		t.Errorf("without a router: %v", err)
	}
	if _, err = (&coa.Client{}).Disconnect(t.Context(), coa.Router{Address: to.Address}, session); err == nil {
		t.Error("asked without a secret")
	}
}

// closedPort is an address at which nothing listens.
func closedPort(t *testing.T) netip.AddrPort {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).AddrPort()
}

// TestAsk_AnAddressOfZerosIsNotSent: the router would refuse a request that names one. Without anything that names the
// session nothing is sent.
func TestAsk_AnAddressOfZerosIsNotSent(t *testing.T) {
	t.Parallel()
	to, got := router(t, func(_ int, request []byte) [][]byte {
		return [][]byte{reply(t, request, layeh.CodeDisconnectACK, 0, secret)}
	})
	for _, zeros := range []string{"0.0.0.0", "::", "::ffff:0.0.0.0"} {
		s := session
		s.FramedIP, s.NASIP = netip.MustParseAddr(zeros), netip.MustParseAddr(zeros)
		if _, err := new(coa.Client).Disconnect(t.Context(), to, s); err != nil {
			t.Fatal(err)
		}
		p, err := layeh.Parse(<-got, secret)
		if err != nil || p.Get(rfc2865.FramedIPAddress_Type) != nil || p.Get(rfc2865.NASIPAddress_Type) != nil ||
			rfc2865.UserName_GetString(p) != "amina" {
			t.Errorf("%s was sent: %v, %v", zeros, p, err)
		}
	}
	nothing := coa.Session{FramedIP: netip.IPv4Unspecified()}
	if _, err := new(coa.Client).Disconnect(t.Context(), to, nothing); err == nil || len(got) != 0 {
		t.Errorf("asked to end a session without a name: %v", err)
	}
}
