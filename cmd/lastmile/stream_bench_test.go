package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// dashboardsVariable makes the test program act as open pages, in a process of its own, so that their work is not
// counted: "ADDRESS HOST STREAMS TOKEN...", with so many streams for each token.
const dashboardsVariable = "LASTMILE_TEST_DASHBOARDS"

// Numbers of the benchmark, and its aim: what the program may use of a processor for all open pages.
const (
	benchDashboards = 500
	benchUsers      = 10
	benchChanges    = 20 // events a second
	dashboardsAim   = 50 * time.Millisecond
)

// runDashboards opens streams and reads them until its input ends. It prints a line when all have begun, and at the end
// the number of messages.
func runDashboards(of string, in io.Reader, out io.Writer) error {
	var addr, host string
	var each int
	if _, err := fmt.Sscan(of, &addr, &host, &each); err != nil {
		return err
	}
	var begun sync.WaitGroup
	var messages atomic.Int64
	for _, token := range strings.Fields(of)[3:] {
		for range each {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				return err
			}
			begun.Add(1)
			_, err = fmt.Fprintf(conn, "GET /events/stream HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n",
				host, token)
			if err != nil {
				return err
			}
			go func() {
				once := sync.OnceFunc(begun.Done)
				for lines := bufio.NewScanner(conn); lines.Scan(); {
					if bytes.HasPrefix(lines.Bytes(), []byte("id: ")) {
						once()
					}
					if bytes.HasPrefix(lines.Bytes(), []byte("data: ")) {
						messages.Add(1)
					}
				}
			}()
		}
	}
	begun.Wait()
	fmt.Fprintln(out, "open")
	_, err := io.Copy(io.Discard, in)
	fmt.Fprintln(out, messages.Load())
	return err
}

// pages are open in another process.
type pages struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// openPages opens streams, so many for each token, and waits until all have begun.
func (k *kit) openPages(b *testing.B, each int, tokens []string) pages {
	b.Helper()
	p := pages{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d %s", dashboardsVariable, k.addr, k.admin.host, each,
		strings.Join(tokens, " ")))
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	p.in, p.out = in, bufio.NewReader(out)
	if err == nil {
		_, err = p.out.ReadString('\n')
	}
	if err != nil {
		b.Fatal("open pages:", err)
	}
	return p
}

// close closes all of them, and gives the number of messages that they got.
func (p pages) close(b *testing.B) (messages int) {
	b.Helper()
	_ = p.in.Close()
	_, err := fmt.Fscan(p.out, &messages)
	if err == nil {
		err = p.cmd.Wait()
	}
	if err != nil {
		b.Fatal("open pages:", err)
	}
	return messages
}

// changing records events at a steady rate for a while, and gives the time of the processor that the program has had a
// second.
func (k *kit) changing(b *testing.B, org id.Organization, d time.Duration) time.Duration {
	b.Helper()
	began, before := time.Now(), processorTime(b)
	tick := time.NewTicker(time.Second / benchChanges)
	defer tick.Stop()
	for n := 0; time.Since(began) < d; n++ {
		<-tick.C
		stream, e := "plan-"+id.New[id.Plan]().String(), events.Event(events.PlanArchived{PlanID: id.New[id.Plan]()})
		if n%2 == 1 {
			stream = "message-" + id.New[id.Message]().String()
			e = events.MessageSent{
				MessageID: id.New[id.Message](), SubscriberID: id.New[id.Subscriber](), At: time.Now().UTC(),
			}
		}
		if err := k.append(b, stream, org, e); err != nil {
			b.Fatal(err)
		}
	}
	return time.Duration(float64(processorTime(b)-before) / time.Since(began).Seconds())
}

// processorTime is the time of the processor that this process has had.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkStream_500Dashboards measures what open pages cost the program while 20 events a second happen in their
// organization: its time of the processor a second, less that of the same without open pages. The limit is the aim, 5 %
// of a processor.
func BenchmarkStream_500Dashboards(b *testing.B) {
	k := newBenchKit(b)
	org := k.organizationID("acme")
	var tokens []string
	for i := range benchUsers {
		email := fmt.Sprintf("clerk%d@acme.test", i)
		k.must(k.admin, "POST", "/users", map[string]string{
			"email": email, "firstName": "Clerk", "lastName": "Bench", "role": string(events.RoleAdmin),
			"temporaryPassword": "temporary-1",
		})
		c, _ := k.login("acme", email, "temporary-1")
		k.must(c, "POST", "/auth/password", map[string]string{
			"currentPassword": "temporary-1", "newPassword": testPassword,
		})
		tokens = append(tokens, c.token)
	}
	for b.Loop() {
		var alone, together []time.Duration
		messages, seconds := 0, 0.0
		for range benchtest.Rounds(b) {
			alone = append(alone, k.changing(b, org, 2*benchtest.Turn(b)))
			open := k.openPages(b, benchDashboards/benchUsers, tokens)
			began := time.Now()
			together = append(together, k.changing(b, org, 2*benchtest.Turn(b)))
			seconds += time.Since(began).Seconds()
			messages += open.close(b)
		}
		cost := benchtest.Quantile(together, 50) - benchtest.Quantile(alone, 50)
		b.ReportMetric(float64(messages)/seconds, "messages/s")
		b.ReportMetric(float64(cost)/float64(time.Second)*100, "cpu_%")
		benchtest.ReportTime(b, "processor", max(cost, time.Microsecond), dashboardsAim, 1)
	}
}
