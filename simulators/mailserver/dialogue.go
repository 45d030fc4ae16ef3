package mailserver

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/mail"
	"net/textproto"
	"strings"
)

// dialogue is the state of one connection.
type dialogue struct {
	server *Server
	fault  Fault
	conn   net.Conn
	in     *bufio.Reader
	secure bool
	user   string
	mail   Mail
}

// say sends one line.
func (d *dialogue) say(line string) error {
	_, err := io.WriteString(d.conn, line+"\r\n")
	return err
}

// take does one command.
func (d *dialogue) take(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	switch strings.ToUpper(verb) {
	case "EHLO", "HELO":
		return d.hello()
	case "STARTTLS":
		return d.startTLS()
	case "AUTH":
		return d.auth(rest)
	case "MAIL":
		if d.server.cfg.User != "" && d.user == "" {
			return d.say("530 5.7.0 sign in first")
		}
		d.mail = Mail{From: address(rest), User: d.user, Secure: d.secure}
		return d.say("250 2.1.0 ok")
	case "RCPT":
		return d.recipient(rest)
	case "DATA":
		return d.text()
	case "RSET", "NOOP":
		return d.say("250 2.0.0 ok")
	case "QUIT":
		return errors.Join(d.say("221 2.0.0 bye"), io.EOF)
	}
	return d.say("502 5.5.1 unknown")
}

// hello lists what the server can do.
func (d *dialogue) hello() error {
	can := []string{"mail.example", "8BITMIME", "ENHANCEDSTATUSCODES"}
	if d.server.cfg.TLS != nil && !d.secure {
		can = append(can, "STARTTLS")
	}
	if d.server.cfg.User != "" {
		can = append(can, "AUTH LOGIN PLAIN")
	}
	for i, word := range can {
		sign := "-"
		if i == len(can)-1 {
			sign = " "
		}
		if err := d.say("250" + sign + word); err != nil {
			return err
		}
	}
	return nil
}

// startTLS goes on over TLS.
func (d *dialogue) startTLS() error {
	if d.server.cfg.TLS == nil {
		return d.say("502 5.5.1 unknown")
	}
	if err := d.say("220 2.0.0 go ahead"); err != nil {
		return err
	}
	d.over(tls.Server(d.conn, d.server.cfg.TLS))
	d.secure = true
	return nil
}

// auth signs a client in, by PLAIN or LOGIN.
func (d *dialogue) auth(rest string) error {
	way, first, _ := strings.Cut(rest, " ")
	var user, password string
	switch strings.ToUpper(way) {
	case "PLAIN":
		raw, _ := base64.StdEncoding.DecodeString(first)
		if parts := strings.Split(string(raw), "\x00"); len(parts) == 3 {
			user, password = parts[1], parts[2]
		}
	case "LOGIN":
		for _, part := range []*string{&user, &password} {
			if err := d.say("334 "); err != nil {
				return err
			}
			line, err := d.in.ReadString('\n')
			if err != nil {
				return err
			}
			raw, _ := base64.StdEncoding.DecodeString(strings.TrimSpace(line))
			*part = string(raw)
		}
	default:
		return d.say("504 5.5.4 unknown")
	}
	if user != d.server.cfg.User || password != d.server.cfg.Password {
		return d.say("535 5.7.8 wrong user or password")
	}
	d.user = user
	return d.say("235 2.7.0 welcome")
}

// recipient takes one address.
func (d *dialogue) recipient(rest string) error {
	switch d.fault {
	case PutOff:
		return d.say("450 4.2.0 try again later")
	case RefuseRecipient:
		return d.say("550 5.1.1 no such mailbox")
	default: // the others come at another time
	}
	d.mail.To = address(rest)
	return d.say("250 2.1.5 ok")
}

// text takes the message itself.
func (d *dialogue) text() error {
	if d.fault == DropBeforeText {
		return errDropped
	}
	if err := d.say("354 go ahead"); err != nil {
		return err
	}
	read, err := mail.ReadMessage(textproto.NewReader(d.in).DotReader())
	if err != nil {
		return fmt.Errorf("read message: %w", err)
	}
	body, err := io.ReadAll(read.Body)
	if err != nil {
		return fmt.Errorf("read message: %w", err)
	}
	if d.fault == RefuseMessage {
		return d.say("554 5.7.1 this looks like spam")
	}
	d.mail.Header, d.mail.Text = read.Header, string(body)
	d.server.mu.Lock()
	d.server.mails = append(d.server.mails, d.mail)
	d.server.mu.Unlock()
	if d.fault == DropAfterText {
		return errDropped
	}
	if err := d.say("250 2.0.0 taken"); err != nil || d.fault == DropAfterAnswer {
		return errors.Join(err, errDropped)
	}
	return nil
}

// address gives what stands between < and >.
func address(of string) string {
	_, rest, _ := strings.Cut(of, "<")
	inside, _, _ := strings.Cut(rest, ">")
	return inside
}
