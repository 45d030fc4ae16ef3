package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
)

// upload is a file that is sent to a host; length is its own word for its size, -1 = none.
type upload struct {
	host, path, body string
	length           int64
}

// send gives the status, the code and Retry-After; 0 for an error of the connection.
func (u upload) send(t *testing.T, k *apitest.Kit) (status int, code, retry string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", k.URL()+u.path, strings.NewReader(u.body))
	if err != nil {
		t.Error(err)
		return 0, "", ""
	}
	req.Host, req.ContentLength = u.host, u.length
	req.Header.Set("Content-Type", "text/csv")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return 0, "", ""
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return res.StatusCode, apitest.Answer{Body: text}.Code(), res.Header.Get("Retry-After")
}

// slowUpload sends the head of a large body and a part of it, then nothing, and gives the status and the code.
func slowUpload(t *testing.T, k *apitest.Kit, host string, part int) (answer chan string) {
	t.Helper()
	answer = make(chan string, 1)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(k.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn,
		"POST /files HTTP/1.1\r\nHost: %s\r\nContent-Type: text/csv\r\nContent-Length: %d\r\n\r\n%s",
		host, 64<<20, strings.Repeat("a", part))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			answer <- err.Error()
			return
		}
		defer func() { _ = res.Body.Close() }()
		text, _ := io.ReadAll(res.Body)
		answer <- fmt.Sprint(res.StatusCode, " ", apitest.Answer{Body: text}.Code(), " ", res.Header.Get("Retry-After"))
	}()
	return answer
}

// TestUploads_SlowOnesKeepNobodyOutAndLoseTheirPlace: of two connections of two tenants that say they send the largest
// file, and send next to nothing, a third tenant does not notice anything.
func TestUploads_SlowOnesKeepNobodyOutAndLoseTheirPlace(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, func(c *httpapi.Config) { c.UploadPause = 5 * time.Second }, []httpapi.Route{{
		Method: "POST", Path: "/files", Hosts: httpapi.OnBoth, Access: httpapi.AccessPublic, Summary: "Take",
		Accepts: "text/csv", BodyLimit: 64 << 20, Response: map[string]string{}, Handle: apitest.Ok,
	}})
	first, second := slowUpload(t, k, apitest.Acme, 3<<20), slowUpload(t, k, apitest.Other, 1)
	for _, host := range []string{apitest.Acme, apitest.Other} { // each has its place
		for {
			status, code, _ := upload{host, "/files", strings.Repeat("a", 2<<20), 2 << 20}.send(t, k)
			if status == 429 && code == "upload_running" {
				break
			}
			if status != 200 {
				t.Fatalf("%s: %d %s", host, status, code)
			}
		}
	}
	largest := upload{apitest.Domain, "/files", strings.Repeat("a", 64<<20), 64 << 20}
	if status, code, _ := largest.send(t, k); status != 200 {
		t.Errorf("a third one meanwhile: %d %s", status, code)
	}
	for _, answer := range []chan string{first, second} {
		if got := <-answer; got != "429 upload_too_slow 5" {
			t.Errorf("a slow one: %s", got)
		}
	}
}

// TestUploads_AnOrganizationHasOneAtATime, and small bodies never wait for them.
func TestUploads_AnOrganizationHasOneAtATime(t *testing.T) {
	t.Parallel()
	held, free := make(chan int, 1), make(chan struct{}, 2)
	take := httpapi.Route{
		Method: "POST", Path: "/files", Hosts: httpapi.OnBoth, Access: httpapi.AccessPublic, Summary: "Take",
		Accepts: "text/csv", BodyLimit: 3 << 20, Response: map[string]string{},
		Handle: func(ctx context.Context, c *httpapi.Call) error {
			if len(c.Body()) > 1<<20 {
				held <- len(c.Body())
				<-free
			}
			return apitest.Ok(ctx, c)
		},
	}
	k := apitest.New(t, nil, []httpapi.Route{take})
	large := strings.Repeat("a", 2<<20)
	ended := make(chan int)
	for _, host := range []string{apitest.Acme, apitest.Other} {
		go func() {
			status, _, _ := upload{host, "/files", large, 2 << 20}.send(t, k)
			ended <- status
		}()
		if n := <-held; n != len(large) {
			t.Errorf("%s: %d bytes", host, n)
		}
	}
	for _, c := range []struct {
		upload
		status int
		code   string
	}{
		{upload{apitest.Acme, "/files", large, 2 << 20}, 429, "upload_running"},
		{upload{apitest.Acme, "/files", large, -1}, 429, "upload_running"},
		{upload{apitest.Acme, "/files", large[:1<<20], 1 << 20}, 200, ""},
		{upload{apitest.Acme, "/files", large + large, 4 << 20}, 413, "body_too_large"},
	} {
		status, code, retry := c.send(t, k)
		if status != c.status || code != c.code || (status == 429) != (retry == "5") {
			t.Errorf("%s%s: %d %s after %q, want %d %s", c.host, c.path, status, code, retry, c.status, c.code)
		}
	}
	for range 2 {
		free <- struct{}{}
	}
	if a, b := <-ended, <-ended; a != 200 || b != 200 {
		t.Errorf("they ended with %d and %d", a, b)
	}
	free <- struct{}{}
	if status, code, _ := (upload{apitest.Acme, "/files", large, 2 << 20}).send(t, k); status != 200 {
		t.Errorf("afterwards: %d %s", status, code)
	}
}
