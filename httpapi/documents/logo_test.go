package documentsapi_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi/apitest"
)

// logoPath is the address of the picture.
const logoPath = "/settings/organization/logo"

// logoBody is the picture as a client reads it.
type logoBody struct {
	Image  *[]byte `json:"image"`
	Width  int     `json:"width"`
	Height int     `json:"height"`
}

// file is a picture of a size in base64.
func file(t *testing.T, width, height int) string {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewRGBA(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

// putLogo sends a picture as the administrator.
func (k *documentsKit) putLogo(t *testing.T, image string) apitest.Answer {
	t.Helper()
	return k.Do(t, apitest.Request{
		Method: "PUT", Path: logoPath, As: apitest.Admin, Body: `{"image": "` + image + `"}`,
	})
}

func TestLogo_StandsOnDocumentsUntilItIsRemoved(t *testing.T) {
	t.Parallel()
	k := newDocumentsKit(t)
	document := "/invoices/" + k.invoice(t, "Router", 1160).ID.String() + "/pdf"
	has := func() bool {
		t.Helper()
		a := k.Do(t, apitest.Request{Path: document, As: apitest.Support})
		if a.Status != 200 {
			t.Fatalf("%d %.200s", a.Status, a.Body)
		}
		return bytes.Contains(a.Body, []byte("/Subtype /Image"))
	}
	read := func(host, as string) (out logoBody) {
		t.Helper()
		k.Do(t, apitest.Request{Host: host, Path: logoPath, As: as}).Into(t, &out)
		return out
	}
	if has() || read(apitest.Acme, apitest.Support).Image != nil {
		t.Error("there is a picture that nobody chose")
	}
	var made logoBody
	for _, width := range []int{10, 1000} {
		if a := k.putLogo(t, file(t, width, 100)); a.Status != 200 {
			t.Fatalf("PUT: %d %s", a.Status, a.Body)
		} else {
			a.Into(t, &made)
		}
	}
	if shown := read(apitest.Acme, apitest.Support); made.Width != 640 || made.Height != 64 || shown.Image == nil ||
		!bytes.Equal(*shown.Image, *made.Image) || !has() {
		t.Errorf("made %d by %d, on the document: %t", made.Width, made.Height, has())
	}
	if read(apitest.Other, apitest.OtherAdmin).Image != nil {
		t.Error("another organization has the picture")
	}
	apitest.Sends(t, k.Kit, "support", apitest.Request{Method: "DELETE", Path: logoPath, As: apitest.Support},
		apitest.Is(403, "role_required"))
	for range 2 { // a repeat changes nothing
		a := k.Do(t, apitest.Request{Method: "DELETE", Path: logoPath, As: apitest.Admin})
		if a.Status != 204 {
			t.Fatalf("DELETE: %d %s", a.Status, a.Body)
		}
	}
	if has() || read(apitest.Acme, apitest.Support).Image != nil {
		t.Error("the picture stays")
	}
}

func TestLogo_RefusesWhatIsNoPicture(t *testing.T) {
	t.Parallel()
	k := newDocumentsKit(t)
	for name, c := range map[string]struct {
		image  string
		status int
	}{
		"text": {base64.StdEncoding.EncodeToString([]byte("hello")), 422}, "nothing": {"", 422},
		"too many pixels": {file(t, 2001, 2000), 422}, "no base64": {"%%%", 422},
		"a large body": {strings.Repeat("A", 2<<20), 413},
	} {
		if a := k.putLogo(t, c.image); a.Status != c.status {
			t.Errorf("%s: %d %.200s", name, a.Status, a.Body)
		}
	}
}
