package messagegateway

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
)

// Mailer hands e-mails to one mail server, each over a connection of its own. Safe for concurrent use.
type Mailer struct {
	cfg    Config
	server mailServer
}

// mailServer is an address of SMTP_URL, taken apart.
type mailServer struct {
	host           string
	port           int
	user, password string
	from           string         // address of the sender
	direct         bool           // TLS from the first byte, as port 465 has it; else STARTTLS
	plain          bool           // without TLS: to this machine only
	roots          *x509.CertPool // that sign the server; nil = those of the machine
}

// Ports of mail servers. RFC 8314, 3.
const (
	portSubmission = 587
	portDirectTLS  = 465
)

// NewMailer makes a mailer for an address such as smtp://user:password@host:587?from=billing@example.com, or smtps://
// for TLS from the first byte. Without from, the user is the address of the sender, or sender when the user is none.
// STARTTLS is required, but of a server on this machine. Nothing is called yet.
func NewMailer(address, sender string, cfg Config) (*Mailer, error) {
	server, err := readMailServer(address, sender)
	if err != nil {
		return nil, err
	}
	return &Mailer{cfg: cfg.withDefaults(), server: server}, nil
}

// readMailServer takes an address apart. Its errors never have the address, which holds a password.
func readMailServer(address, sender string) (mailServer, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Path != "" && u.Path != "/" {
		return mailServer{}, errors.New("must be smtp://user:password@host:port")
	}
	s := mailServer{host: u.Hostname(), port: portSubmission, user: u.User.Username(), from: u.Query().Get("from")}
	s.password, _ = u.User.Password()
	switch u.Scheme {
	case "smtp":
		at, err := netip.ParseAddr(s.host)
		s.plain = err == nil && at.IsLoopback() || s.host == "localhost"
	case "smtps":
		s.port, s.direct = portDirectTLS, true
	default:
		return mailServer{}, errors.New("must begin with smtp:// or smtps://")
	}
	if port := u.Port(); port != "" {
		if s.port, err = strconv.Atoi(port); err != nil || s.port < 1 || s.port > 65535 {
			return mailServer{}, errors.New("must have a port from 1 to 65535")
		}
	}
	if s.from == "" && strings.Contains(s.user, "@") {
		s.from = s.user
	}
	s.from = cmp.Or(s.from, sender)
	if err := mail.NewMsg().From(s.from); err != nil {
		return mailServer{}, errors.New("must have an e-mail address in from=, or as its user")
	}
	return s, nil
}

// Mail is one e-mail in plain text.
type Mail struct {
	ID      string // unique; the same at every try, so that a mail server can tell a repeat
	Sender  string // name of the sender
	To      string
	ReplyTo string // "" = nowhere
	Subject string
	Text    string
	At      time.Time
}

// Send hands an e-mail over. Fails: *Refused, ErrUnclear, email_unavailable; after the last one it was not taken.
func (m *Mailer) Send(ctx context.Context, of Mail) error {
	message, err := m.write(of)
	if err != nil {
		return refused(CodeAddress, err.Error())
	}
	began := m.cfg.Clock.Now()
	err = m.cfg.Guard.Do(ctx, KindEmail, m.server.host, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, m.cfg.Timeout)
		defer cancel()
		return m.deliver(ctx, message)
	})
	outcome, err := ended(KindEmail, err)
	m.cfg.Logger.InfoContext(ctx, "mail server call", "system", KindEmail, "operation", "send",
		"target", m.server.host, "duration", m.cfg.Clock.Now().Sub(began), "outcome", outcome)
	return err
}

// write makes the message. It fails for an address that is none.
func (m *Mailer) write(of Mail) (*mail.Msg, error) {
	message := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := message.FromFormat(headerText(of.Sender), m.server.from); err != nil {
		return nil, errors.New("the sender's name cannot be written")
	}
	if err := message.To(of.To); err != nil {
		return nil, errors.New("this is no e-mail address")
	}
	if of.ReplyTo != "" {
		if err := message.ReplyTo(of.ReplyTo); err != nil {
			return nil, errors.New("the address for answers is no e-mail address")
		}
	}
	message.Subject(headerText(of.Subject))
	message.SetMessageIDWithValue(of.ID + "@" + m.server.host)
	message.SetDateWithValue(of.At)
	message.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834, 5: no answer of a machine
	message.SetBodyString(mail.TypeTextPlain, of.Text)
	return message, nil
}

// headerText is a text for a header: characters that end a line or control something become spaces, so that one name
// with them, however it was recorded, stops no mail and adds no header.
func headerText(text string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, ""))), " ")
}

// deliver makes one connection and hands the message over. What the server has taken is delivered, however the
// connection ends.
func (m *Mailer) deliver(ctx context.Context, message *mail.Msg) error {
	client, err := m.client(ctx)
	if err != nil {
		return err
	}
	err = client.DialAndSendWithContext(ctx, message)
	if message.IsDelivered() {
		return nil
	}
	var failed *mail.SendError
	if !errors.As(err, &failed) {
		return fmt.Errorf("reach the mail server: %w", err)
	}
	code := failed.ErrorCode()
	switch {
	case code >= 500 && failed.Reason == mail.ErrSMTPRcptTo:
		return breaker.Answered(refused(CodeAddress, serverWords(failed)))
	case code >= 500:
		return breaker.Answered(refused(CodeRejected, serverWords(failed)))
	case code >= 400: // it asks to be tried later, such as a server that does not know us yet
		return breaker.Answered(fmt.Errorf("the mail server puts the message off: %w", err))
	case failed.Reason == mail.ErrSMTPDataClose:
		return fmt.Errorf("%w: %w", ErrUnclear, err)
	}
	return fmt.Errorf("hand the message over: %w", err)
}

// serverWords are the status of a refusal and its enhanced status: the rest often repeats the address.
func serverWords(failed *mail.SendError) string {
	return "status " + strconv.Itoa(failed.ErrorCode()) + " " + failed.EnhancedStatusCode()
}

// client makes the client of one connection, which ends with ctx.
func (m *Mailer) client(ctx context.Context) (*mail.Client, error) {
	s := m.server
	policy := mail.TLSMandatory
	if s.direct || s.plain {
		policy = mail.NoTLS // the connection has it already, or needs none
	}
	options := []mail.Option{
		mail.WithPort(s.port), mail.WithTLSPolicy(policy), mail.WithTimeout(m.cfg.Timeout),
		mail.WithTLSConfig(s.tls()), mail.WithoutNoop(),
		mail.WithDialContextFunc(func(_ context.Context, network, address string) (net.Conn, error) {
			return s.dial(ctx, network, address)
		}),
	}
	if s.user != "" && s.password != "" {
		options = append(options, mail.WithSMTPAuthCustom(&signIn{server: s}))
	}
	client, err := mail.NewClient(s.host, options...)
	if err != nil {
		return nil, fmt.Errorf("mail server: %w", err)
	}
	return client, nil
}

// tls is for the server's name.
func (s mailServer) tls() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, ServerName: s.host, RootCAs: s.roots}
}

// dial connects, and ends the connection with ctx, whatever the server is about to say.
func (s mailServer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	if !s.direct {
		return conn, nil
	}
	secure := tls.Client(conn, s.tls())
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secure, nil
}

// signIn signs in with the first way that both sides know. Passwords go over TLS, or to this machine.
type signIn struct {
	server mailServer
	way    smtp.Auth
}

// Start chooses the way.
func (a *signIn) Start(server *smtp.ServerInfo) (string, []byte, error) {
	s := a.server
	for _, way := range []struct {
		name string
		auth smtp.Auth
	}{
		{"PLAIN", smtp.PlainAuth("", s.user, s.password, s.host, s.plain)},
		{"LOGIN", smtp.LoginAuth(s.user, s.password, s.host, s.plain)},
		{"CRAM-MD5", smtp.CRAMMD5Auth(s.user, s.password)},
	} {
		if slices.Contains(server.Auth, way.name) {
			a.way = way.auth
			return a.way.Start(server)
		}
	}
	return "", nil, errors.New("the mail server knows none of PLAIN, LOGIN and CRAM-MD5")
}

// Next goes on in the chosen way.
func (a *signIn) Next(said []byte, more bool) ([]byte, error) { return a.way.Next(said, more) }
