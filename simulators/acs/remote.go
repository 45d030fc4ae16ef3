package acs

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// RemoteConfig describes a device that reports to a real server.
type RemoteConfig struct {
	Device DeviceConfig
	CWMP   string // the server's address for devices, such as http://10.0.0.5:7547/
	// Listen is where the device takes connection requests, an address that the server reaches; a free loopback port
	// when empty.
	Listen string
	Seed   uint64
}

// Remote is a device of the simulator that speaks TR-069 to a server by itself: Inform, TransferComplete, and the
// methods GetRPCMethods, GetParameterNames, GetParameterValues, SetParameterValues, AddObject, DeleteObject, Reboot,
// FactoryReset and Download. It shows its credentials when the server asks. Connection requests are taken without a
// password. Safe for concurrent use; its sessions
// run one after the other.
type Remote struct {
	cfg      RemoteConfig
	client   *http.Client
	server   *http.Server
	run      context.Context
	halt     context.CancelFunc
	work     sync.WaitGroup
	sessions sync.Mutex

	mu      sync.Mutex
	d       *device
	offline bool
	refuse  map[string]string // codes by path
	failed  error             // of the newest session that nobody waited for
}

// NewRemote makes a device and listens for connection requests. It says nothing until Session.
func NewRemote(ctx context.Context, cfg RemoteConfig) (*Remote, error) {
	cfg.Device = cfg.Device.withDefaults()
	at := cfg.Listen
	if at == "" {
		at = "127.0.0.1:0"
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at)
	if err != nil {
		return nil, fmt.Errorf("listen for connection requests: %w", err)
	}
	r := &Remote{cfg: cfg, client: &http.Client{Timeout: time.Minute, Transport: &http.Transport{}}}
	r.run, r.halt = context.WithCancel(ctx)
	c := cfg.Device
	r.d = &device{id: idOf(c.OUI, c.ProductClass, c.Serial), cfg: c, on: true}
	source := &Simulator{cfg: Config{Seed: cfg.Seed}}
	r.d.box = newBox(c, source.random(r.d.id), r.now())
	r.d.box.params[c.Root+".ManagementServer.ConnectionRequestURL"].value = "http://" + l.Addr().String() + "/"
	r.server = &http.Server{Handler: http.HandlerFunc(r.called), ReadHeaderTimeout: 10 * time.Second}
	r.work.Go(func() { _ = r.server.Serve(l) })
	return r, nil
}

// now is the machine's time: the server has no other either.
func (r *Remote) now() time.Time { return clock.System().Now().Truncate(time.Millisecond) }

// ID gives the id that the server makes of the device.
func (r *Remote) ID() string { return r.d.id }

// Close ends the device; sessions under way are broken off.
func (r *Remote) Close() error {
	r.halt()
	err := r.server.Close()
	r.work.Wait()
	r.client.CloseIdleConnections()
	return err
}

// SetOffline lets the device drop connection requests.
func (r *Remote) SetOffline(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.offline = on
}

// SetRejected lets the device refuse values of a parameter with a code; "" ends it.
func (r *Remote) SetRejected(path, code string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuse = map[string]string{path: code}
}

// Set changes texts of the device, as a person at it would.
func (r *Remote) Set(values map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for path, value := range values {
		r.d.box.write(path, value)
	}
}

// Value gives what the device itself has, also a secret.
func (r *Remote) Value(path string) any {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.d.box.params[path]
	if p == nil {
		return nil
	}
	return plainValue(p.value)
}

// called answers a connection request.
func (r *Remote) called(w http.ResponseWriter, _ *http.Request) {
	r.mu.Lock()
	away := r.offline
	r.mu.Unlock()
	if away {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(http.StatusOK)
	r.work.Go(func() { r.keep(r.Session(r.run, connection)) })
}

// keep remembers the error of a session that nobody waits for.
func (r *Remote) keep(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = err
}

// Failed gives the error of the newest session that a connection request began.
func (r *Remote) Failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// Session reports to the server with events, does what it says until it has nothing more, and then what follows: a
// boot, a reset, a transfer, each with a session of its own.
func (r *Remote) Session(ctx context.Context, events ...string) error {
	r.sessions.Lock()
	defer r.sessions.Unlock()
	next := [][]string{events}
	var transfer []byte
	for len(next) > 0 {
		t := &talk{r: r, ctx: ctx}
		if err := t.open(next[0], transfer); err != nil {
			return err
		}
		next, transfer = next[1:], nil
		if t.download != nil {
			transfer = r.fetch(ctx, t.download)
			next = append(next, []string{boot, transferred, "M Download"})
		}
		next = append(next, t.next...)
	}
	return nil
}

// talk is one session with a real server.
type talk struct {
	r        *Remote
	ctx      context.Context
	jar      *cookiejar.Jar
	next     [][]string
	download *node
}

// node is any element of XML.
type node struct {
	XMLName xml.Name
	Text    string `xml:",chardata"`
	Nodes   []node `xml:",any"`
}

// child finds an element by its name; an empty one when there is none.
func (n *node) child(name string) *node {
	for i := range n.Nodes {
		if n.Nodes[i].XMLName.Local == name {
			return &n.Nodes[i]
		}
	}
	return &node{}
}

// text gives the text of a child.
func (n *node) text(name string) string { return strings.TrimSpace(n.child(name).Text) }

// open begins a session with an inform and works until the server has nothing more. A transfer is told before.
func (t *talk) open(events []string, transfer []byte) error {
	t.jar, _ = cookiejar.New(nil)
	answer, err := t.post(t.inform(events))
	if err != nil {
		return fmt.Errorf("inform: %w", err)
	}
	if answer == nil || answer.XMLName.Local != "InformResponse" {
		return errors.New("the server does not answer an inform")
	}
	var body []byte
	if transfer != nil {
		if answer, err = t.post(envelope("1", transfer)); err != nil {
			return fmt.Errorf("transfer complete: %w", err)
		}
		if answer == nil || answer.XMLName.Local != "TransferCompleteResponse" {
			return errors.New("the server does not answer a completed transfer")
		}
	}
	for range 1000 {
		answer, err := t.post(body)
		switch {
		case err != nil:
			return fmt.Errorf("session: %w", err)
		case answer == nil:
			return nil
		}
		body = envelope(answer.Text, t.do(answer))
	}
	return errors.New("the session does not end")
}

// post sends a message and gives the method of the answer, whose Text is the message's id; nil for an empty answer. A
// server that wants to know the device is told its credentials, once.
func (t *talk) post(body []byte) (*node, error) {
	answer, asked, err := t.send(body, "")
	if asked == "" {
		return answer, err
	}
	at, parseErr := url.Parse(t.r.cfg.CWMP)
	if parseErr != nil {
		return nil, parseErr
	}
	t.r.mu.Lock()
	shown := t.r.d.box.credentials().answerTo(asked, at.RequestURI())
	t.r.mu.Unlock()
	if shown == "" {
		return nil, err
	}
	answer, _, err = t.send(body, shown)
	return answer, err
}

// send is post with credentials; without any it gives the server's challenge with the error.
func (t *talk) send(body []byte, authorization string) (answer *node, challenge string, err error) {
	req, err := http.NewRequestWithContext(t.ctx, http.MethodPost, t.r.cfg.CWMP, bytes.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", "text/xml; charset=utf-8")
		req.Header.Set("SOAPAction", "")
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	for _, c := range t.jar.Cookies(req.URL) {
		req.AddCookie(c)
	}
	w, err := t.r.client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer w.Body.Close()
	t.jar.SetCookies(req.URL, w.Cookies())
	text, err := io.ReadAll(io.LimitReader(w.Body, 4<<20))
	switch {
	case err != nil:
		return nil, "", err
	case w.StatusCode/100 != 2:
		return nil, w.Header.Get("WWW-Authenticate"), fmt.Errorf("status %d", w.StatusCode)
	case len(bytes.TrimSpace(text)) == 0:
		return nil, "", nil
	}
	var message struct {
		Header node `xml:"Header"`
		Body   node `xml:"Body"`
	}
	if err := xml.Unmarshal(text, &message); err != nil {
		return nil, "", err
	}
	if len(message.Body.Nodes) == 0 {
		return nil, "", errors.New("a message without a method")
	}
	method := message.Body.Nodes[0]
	method.Text = message.Header.text("ID")
	return &method, "", nil
}

// envelope puts a method into a message.
func envelope(id string, body []byte) []byte {
	var out bytes.Buffer
	out.WriteString(`<?xml version="1.0" encoding="UTF-8"?><soap-env:Envelope ` +
		`xmlns:soap-env="http://schemas.xmlsoap.org/soap/envelope/" ` +
		`xmlns:soap-enc="http://schemas.xmlsoap.org/soap/encoding/" xmlns:xsd="http://www.w3.org/2001/XMLSchema" ` +
		`xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:cwmp="urn:dslforum-org:cwmp-1-0">` +
		`<soap-env:Header><cwmp:ID soap-env:mustUnderstand="1">`)
	out.WriteString(escaped(id))
	out.WriteString(`</cwmp:ID></soap-env:Header><soap-env:Body>`)
	out.Write(body)
	out.WriteString(`</soap-env:Body></soap-env:Envelope>`)
	return out.Bytes()
}

// escaped writes a text for XML.
func escaped(text string) string {
	var out bytes.Buffer
	_ = xml.EscapeText(&out, []byte(text))
	return out.String()
}

// inform is the first message of a session.
func (t *talk) inform(events []string) []byte {
	d, now := t.r.d, t.r.now()
	var list, values strings.Builder
	for _, e := range events {
		fmt.Fprintf(&list, "<EventStruct><EventCode>%s</EventCode><CommandKey></CommandKey></EventStruct>", escaped(e))
	}
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	carried := d.box.carried()
	for _, p := range carried {
		values.WriteString(valueStruct(d.box, p, now))
	}
	c := d.cfg
	class := "<ProductClass>" + escaped(c.ProductClass) + "</ProductClass>"
	if c.NoClass {
		class = ""
	}
	return envelope("1", fmt.Appendf(nil, `<cwmp:Inform><DeviceId><Manufacturer>%s</Manufacturer><OUI>%s</OUI>`+
		`%s<SerialNumber>%s</SerialNumber></DeviceId>`+
		`<Event soap-enc:arrayType="cwmp:EventStruct[%d]">%s</Event><MaxEnvelopes>1</MaxEnvelopes>`+
		`<CurrentTime>%s</CurrentTime><RetryCount>0</RetryCount>`+
		`<ParameterList soap-enc:arrayType="cwmp:ParameterValueStruct[%d]">%s</ParameterList></cwmp:Inform>`,
		escaped(c.Manufacturer), escaped(c.OUI), class, escaped(c.Serial), len(events), list.String(),
		now.Format(time.RFC3339), len(carried), values.String()))
}

// valueStruct writes a parameter with its value.
func valueStruct(b *box, path string, now time.Time) string {
	value, _ := b.read(path, now)
	text, _ := coerce(value, typeText)
	if at, is := value.(time.Time); is {
		text = at.UTC().Format("2006-01-02T15:04:05.000000Z")
	}
	return fmt.Sprintf(`<ParameterValueStruct><Name>%s</Name><Value xsi:type="%s">%s</Value></ParameterValueStruct>`,
		escaped(path), b.params[path].kind, escaped(fmt.Sprint(text)))
}

// fetch gets a file and writes what the device tells about it.
func (r *Remote) fetch(ctx context.Context, d *node) []byte {
	began := r.now()
	code, text := "0", ""
	s := &Simulator{client: r.client}
	if _, err := s.get(ctx, d.text("URL")); err != nil {
		code, text = "9016", cpeFaults["9016"]
	}
	return fmt.Appendf(nil, `<cwmp:TransferComplete><CommandKey>%s</CommandKey><FaultStruct><FaultCode>%s</FaultCode>`+
		`<FaultString>%s</FaultString></FaultStruct><StartTime>%s</StartTime><CompleteTime>%s</CompleteTime>`+
		`</cwmp:TransferComplete>`, escaped(d.text("CommandKey")), code, text, began.Format(time.RFC3339),
		r.now().Format(time.RFC3339))
}

// names are those of all parameters and objects below a path, the objects with a dot at their end.
func (b *box) names(path string, nextOnly bool) []string {
	out := []string{}
	for p := range b.params {
		if !strings.HasPrefix(p, path) && p+"." != path {
			continue
		}
		for at := 0; at < len(p); {
			end := strings.IndexByte(p[at:], '.')
			if end < 0 {
				out = append(out, p)
				break
			}
			at += end + 1
			out = append(out, p[:at])
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return slices.DeleteFunc(out, func(n string) bool {
		rest, below := strings.CutPrefix(n, path)
		return !below || nextOnly && (rest == "" || strings.Contains(strings.TrimSuffix(rest, "."), "."))
	})
}
