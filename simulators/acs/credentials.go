package acs

import (
	"crypto/md5" //nolint:gosec // digest authentication is made of it
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// realm is that of the server's challenges.
const realm = "GenieACS"

// cwmpPath is where devices of the simulator post.
const cwmpPath = "/"

// credentials are the ManagementServer.Username and .Password of a device, which it shows the server.
type credentials struct{ username, password string }

// credentials reads those of a device; the box is locked.
func (b *box) credentials() credentials {
	of := func(name string) string {
		text, _ := b.params[b.cfg.Root+".ManagementServer."+name].value.(string)
		return text
	}
	return credentials{of("Username"), of("Password")}
}

// challenge is the server's question, in a header WWW-Authenticate: Basic when it is encrypted, and else Digest.
func challenge(encrypted bool, nonce string) string {
	if encrypted {
		return `Basic realm="` + realm + `"`
	}
	return `Digest realm="` + realm + `",qop="auth,auth-int",nonce="` + nonce + `"`
}

// answerTo is the header Authorization by which a device answers a challenge for a path. A device without a username
// has no answer: "".
func (c credentials) answerTo(challenge, path string) string {
	if c.username == "" {
		return ""
	}
	method, rest, _ := strings.Cut(challenge, " ")
	if method == "Basic" {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(c.username+":"+c.password))
	}
	f := fieldsOf(rest)
	shown := map[string]string{"nonce": f["nonce"], "uri": path, "nc": "00000001", "cnonce": rand.Text()}
	if f["qop"] != "" {
		shown["qop"] = "auth"
	}
	out := `Digest username="` + c.username + `",realm="` + f["realm"] + `",nonce="` + f["nonce"] + `",uri="` + path +
		`",response="` + c.digest(f["realm"], shown) + `"`
	if shown["qop"] != "" {
		out += `,qop=auth,nc=` + shown["nc"] + `,cnonce="` + shown["cnonce"] + `"`
	}
	return out
}

// showIn reports whether a header Authorization shows the credentials; nonce is that of the server's challenge.
func (c credentials) showIn(header, nonce string) bool {
	method, rest, _ := strings.Cut(header, " ")
	switch method {
	case "Basic":
		return header == c.answerTo("Basic", "")
	case "Digest":
		f := fieldsOf(rest)
		return f["nonce"] == nonce && f["response"] == c.digest(realm, f)
	}
	return false
}

// digest is the proof that RFC 2617 wants of the credentials in some fields.
func (c credentials) digest(realm string, f map[string]string) string {
	proof := []string{hashed(c.username, realm, c.password), f["nonce"]}
	if f["qop"] != "" {
		proof = append(proof, f["nc"], f["cnonce"], f["qop"])
	}
	return hashed(append(proof, hashed("POST", f["uri"]))...)
}

// hashed is the hash of parts with colons between them.
func hashed(parts ...string) string {
	sum := md5.Sum([]byte(strings.Join(parts, ":"))) //nolint:gosec // digest authentication is made of it
	return hex.EncodeToString(sum[:])
}

// fieldsOf reads name="value" and name=value between commas; a comma in quotes ends no value.
func fieldsOf(text string) map[string]string {
	out, quoted := map[string]string{}, false
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return r == ',' && !quoted
	}) {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		out[name] = strings.Trim(value, `"`)
	}
	return out
}
