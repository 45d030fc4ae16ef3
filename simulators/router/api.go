package router

import (
	"bufio"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// acceptAPI serves the API protocol until the listener closes, each connection in a goroutine of its own.
func (r *Router) acceptAPI(ctx context.Context, in net.Listener, service string) {
	for {
		conn, err := in.Accept()
		if err != nil {
			return
		}
		r.door.work.Go(func() {
			defer conn.Close()
			_ = (&talk{r: r, service: service, in: bufio.NewReader(conn), out: bufio.NewWriter(conn)}).serve(ctx, conn)
		})
	}
}

// talk is one API connection. who is nil before the login.
type talk struct {
	r       *Router
	in      *bufio.Reader
	out     *bufio.Writer
	who     *caller
	tag     string // of the sentence being answered
	service string // api or api-ssl
}

// errTalkOver closes the connection; the client has got the reason, or a fault keeps it from getting one.
var errTalkOver = errors.New("connection is closed")

// serve answers sentences until the connection ends. Its context ends with the connection, so that a hanging command
// does not outlive it.
func (t *talk) serve(ctx context.Context, conn net.Conn) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sentences := make(chan []string)
	t.r.door.work.Go(func() {
		defer cancel()
		defer close(sentences)
		for {
			words, err := readSentence(t.in)
			if err != nil {
				return
			}
			select {
			case sentences <- words:
			case <-ctx.Done():
				return
			}
		}
	})
	defer conn.Close()
	for words := range sentences {
		if len(words) == 0 {
			continue
		}
		if err := t.answer(ctx, words); err != nil {
			return err
		}
		if err := t.out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// answer reads the words of one sentence and executes it.
func (t *talk) answer(ctx context.Context, words []string) error {
	c := call{args: Item{}}
	t.tag = ""
	for _, word := range words[1:] {
		switch {
		case strings.HasPrefix(word, "="):
			name, value, _ := strings.Cut(word[1:], "=")
			c.args[name] = value
		case strings.HasPrefix(word, "?"):
			c.query = append(c.query, word[1:])
		case strings.HasPrefix(word, ".tag="):
			t.tag = word[len(".tag="):]
		}
	}
	if list, ok := c.args[".proplist"]; ok {
		c.proplist = splitList(list)
		delete(c.args, ".proplist")
	}
	switch {
	case words[0] == "/login":
		return t.login(c.args)
	case words[0] == "/quit":
		return t.fatal("session terminated on request")
	case t.who == nil:
		return t.fatal("not logged in")
	case words[0] == "/cancel":
		t.say("!done")
		return nil
	}
	return t.command(ctx, words[0], c)
}

// command executes a console command and writes its rows. In 7.18 and later an empty print answers "!empty".
func (t *talk) command(ctx context.Context, path string, c call) error {
	path = strings.Trim(path, "/")
	at := max(strings.LastIndex(path, "/"), 0)
	c.menu, c.command, c.who, c.service = path[:at], strings.TrimPrefix(path[at:], "/"), t.who, t.service
	if t.r.menus[c.menu] == nil {
		t.trap(refuse("no such command prefix"))
		return nil
	}
	if !t.r.endless(ctx, c) {
		t.trap(&Trap{Category: 2, Message: "interrupted"})
		return nil
	}
	out, trap, answered := t.r.handle(ctx, c)
	switch {
	case !answered:
		return errTalkOver
	case trap != nil:
		t.trap(trap)
		return nil
	}
	for _, item := range out.rows {
		t.say(append([]string{"!re"}, attributes(item)...)...)
	}
	if len(out.rows) == 0 && out.ret == nil && c.command == "print" && t.r.version >= v7EmptyReply {
		t.say("!empty")
	}
	if out.ret != nil {
		t.say("!done", "=ret="+*out.ret)
	} else {
		t.say("!done")
	}
	return nil
}

// login checks name and password, which the client sends in plain text.
func (t *talk) login(args Item) error {
	if t.who = t.r.authenticate(args["name"], args["password"], "api"); t.who == nil {
		t.trap(&Trap{Category: -1, Message: "invalid user name or password (6)"})
		return nil
	}
	t.say("!done")
	return nil
}

// trap writes a refusal and the !done that follows it.
func (t *talk) trap(trap *Trap) {
	words := []string{"!trap"}
	if trap.Category >= 0 {
		words = append(words, "=category="+strconv.Itoa(trap.Category))
	}
	t.say(append(words, "=message="+trap.Message)...)
	t.say("!done")
}

// fatal writes the reason and ends the connection.
func (t *talk) fatal(reason string) error {
	t.say("!fatal", reason)
	_ = t.out.Flush()
	return errTalkOver
}

// attributes gives the words of an item, sorted by name.
func attributes(item Item) []string {
	words := make([]string, 0, len(item))
	for _, name := range slices.Sorted(maps.Keys(item)) {
		words = append(words, "="+name+"="+item[name])
	}
	return words
}

// say writes a sentence, with the tag of the sentence that it answers.
func (t *talk) say(words ...string) {
	if t.tag != "" {
		words = slices.Insert(words, 1, ".tag="+t.tag)
	}
	for _, word := range words {
		_, _ = t.out.Write(wordLength(len(word)))
		_, _ = t.out.WriteString(word)
	}
	_ = t.out.WriteByte(0)
}

// wordLength gives the length prefix of a word, 1 to 4 bytes. Source: docs/facts/routeros.md#words-of-the-protocol.
func wordLength(n int) []byte {
	switch {
	case n < 0x80:
		return []byte{byte(n)}
	case n < 0x4000:
		return []byte{byte(n>>8) | 0x80, byte(n)}
	case n < 0x200000:
		return []byte{byte(n>>16) | 0xC0, byte(n >> 8), byte(n)}
	}
	return []byte{byte(n>>24) | 0xE0, byte(n >> 16), byte(n >> 8), byte(n)}
}

// readSentence reads words up to the empty one, maxRequest bytes at most.
func readSentence(in *bufio.Reader) ([]string, error) {
	var words []string
	total := 0
	for {
		n, err := readLength(in)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return words, nil
		}
		if total += n + 1; total > maxRequest {
			return nil, errors.New("sentence is too long")
		}
		word := make([]byte, n)
		if _, err := io.ReadFull(in, word); err != nil {
			return nil, err
		}
		words = append(words, string(word))
	}
}

// readLength reads the length prefix of a word, 1 to 5 bytes.
func readLength(in *bufio.Reader) (int, error) {
	first, err := in.ReadByte()
	if err != nil {
		return 0, err
	}
	more, mask := 0, byte(0x7F)
	switch {
	case first&0x80 == 0:
	case first&0xC0 == 0x80:
		more, mask = 1, 0x3F
	case first&0xE0 == 0xC0:
		more, mask = 2, 0x1F
	case first&0xF0 == 0xE0:
		more, mask = 3, 0x0F
	case first == 0xF0:
		more, mask = 4, 0
	default:
		return 0, errors.New("bad length")
	}
	n := int(first & mask)
	for range more {
		b, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		n = n<<8 | int(b)
	}
	return n, nil
}

// endless waits for Config.CommandLimit when a command has no end of its own, and reports false: the command was cut.
func (r *Router) endless(ctx context.Context, c call) bool {
	_, once := c.args["once"]
	_, limited := c.args["duration"]
	if c.command != "monitor-traffic" || once || limited {
		return true
	}
	loop.Sleep(ctx, r.sim.cfg.CommandLimit)
	return false
}
