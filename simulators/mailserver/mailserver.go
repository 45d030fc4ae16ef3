// Package mailserver simulates a mail server on a real socket (RFC 5321 with STARTTLS, AUTH PLAIN and LOGIN): it takes
// messages, keeps them to be read, and misbehaves on request.
package mailserver

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/mail"
	"strings"
	"sync"
)

// Config of a simulator; the zero value is usable.
type Config struct {
	Addr     string // listen address; a free loopback port when empty
	User     string // with Password; "" takes mail without signing in
	Password string
	TLS      *tls.Config  // nil = the server offers no STARTTLS
	Direct   bool         // TLS from the first byte
	Logger   *slog.Logger // silent when nil
}

// Fault is a way in which the server misbehaves.
type Fault string

// The faults; each lasts until another one is set.
const (
	NoFault         Fault = ""
	DropAtGreeting  Fault = "drop_at_greeting"  // the connection ends before a word
	HangAtGreeting  Fault = "hang_at_greeting"  // nothing is ever said
	PutOff          Fault = "put_off"           // each recipient is to be tried later, as grey lists do
	RefuseRecipient Fault = "refuse_recipient"  // there is no such mailbox
	RefuseMessage   Fault = "refuse_message"    // the text is taken for spam
	DropBeforeText  Fault = "drop_before_text"  // the connection ends before the text may come
	DropAfterText   Fault = "drop_after_text"   // the message is taken, and the connection ends before the answer
	DropAfterAnswer Fault = "drop_after_answer" // the connection ends right after the answer
)

// Mail is a message that the server has taken.
type Mail struct {
	From, To string // of the envelope
	User     string // who signed in; "" without
	Secure   bool   // it came over TLS
	Header   mail.Header
	Text     string
}

// Server is the mail server. Safe for concurrent use. Start it once and Stop it once.
type Server struct {
	cfg      Config
	listener net.Listener
	work     sync.WaitGroup

	mu    sync.Mutex
	fault Fault
	mails []Mail
	open  map[net.Conn]bool
}

// New makes a server that has taken nothing; it listens after Start.
func New(cfg Config) *Server {
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Server{cfg: cfg, open: map[net.Conn]bool{}}
}

// Start listens and serves until Stop.
func (s *Server) Start(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.cfg.Addr)
	if err != nil {
		return fmt.Errorf("listen as mail server: %w", err)
	}
	s.listener = listener
	s.work.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // stopped
			}
			s.note(conn, true)
			s.work.Go(func() {
				defer s.note(conn, false)
				if err := s.serve(conn); err != nil {
					s.cfg.Logger.Debug("connection to the mail server ended", "error", err)
				}
			})
		}
	})
	return nil
}

// note remembers a connection, or closes and forgets it.
func (s *Server) note(conn net.Conn, opened bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if opened {
		s.open[conn] = true
		return
	}
	delete(s.open, conn)
	_ = conn.Close()
}

// Addr gives host and port; call it after Start.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Stop ends all connections.
func (s *Server) Stop(context.Context) error {
	if s.listener == nil {
		return nil
	}
	err := s.listener.Close()
	s.mu.Lock()
	for conn := range s.open {
		_ = conn.Close()
	}
	s.mu.Unlock()
	s.work.Wait()
	return err
}

// SetFault replaces the fault; connections that are open have the one of their beginning.
func (s *Server) SetFault(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Mails lists what was taken, in the order in which it came.
func (s *Server) Mails() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Mail(nil), s.mails...)
}

// errDropped ends a connection on purpose.
var errDropped = errors.New("dropped on request")

// serve speaks with one client.
func (s *Server) serve(conn net.Conn) error {
	s.mu.Lock()
	d := dialogue{server: s, fault: s.fault}
	s.mu.Unlock()
	switch d.fault {
	case DropAtGreeting:
		return errDropped
	case HangAtGreeting:
		_, err := conn.Read(make([]byte, 1)) // until either side is gone
		return errors.Join(err, errDropped)
	default: // the others come later
	}
	d.over(conn)
	if s.cfg.Direct {
		d.over(tls.Server(conn, s.cfg.TLS))
		d.secure = true
	}
	if err := d.say("220 mail.example ready"); err != nil {
		return err
	}
	for {
		line, err := d.in.ReadString('\n')
		if err != nil {
			return err
		}
		if err := d.take(strings.TrimRight(line, "\r\n")); err != nil {
			return err
		}
	}
}

// over makes the dialogue go on over a connection.
func (d *dialogue) over(conn net.Conn) { d.conn, d.in = conn, bufio.NewReader(conn) }
