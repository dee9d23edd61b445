// go-session is a railgate client with the packages of Go's own team:  go-session https://gateway.example
//
// Its Ed25519 key signs the enrolment and the token call; everything else is signed in a session. Each step is printed as
// one line of JSON.
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/crypto/curve25519"
	"golang.org/x/crypto/hkdf"
)

var base64url = base64.RawURLEncoding

type object map[string]any

// signer is what signs a call: the key, or a session.
type signer struct {
	id, alg string
	sign    func(message []byte) []byte
}

// client is the state between two calls.
type client struct {
	api, challenge, token string
	calls                 int
}

// call signs a request, lets alter change it, sends it, and returns status and JSON of the response.
func (c *client) call(by signer, method, path string, body object, alter func(*http.Request)) (int, object) {
	var content []byte
	if body != nil {
		content = must(json.Marshal(body))
	}
	request := must(http.NewRequest(method, c.api+path, bytes.NewReader(content)))
	covered := [][2]string{{"@method", method}, {"@target-uri", c.api + path}}
	cover := func(name, value string) {
		request.Header.Set(name, value)
		covered = append(covered, [2]string{name, value})
	}
	if c.token != "" {
		cover("authorization", "Bearer "+c.token)
	}
	if body != nil {
		digest := sha256.Sum256(content)
		cover("content-type", "application/json")
		cover("content-digest", "sha-256=:"+base64.StdEncoding.EncodeToString(digest[:])+":")
	}
	c.calls++
	var base, names []string
	for _, part := range covered {
		names = append(names, `"`+part[0]+`"`)
		base = append(base, fmt.Sprintf("%q: %s", part[0], part[1]))
	}
	// A nonce is the server's challenge and a suffix of ours; each is good for one call.
	parameters := fmt.Sprintf(`(%s);created=%d;keyid="%s";alg="%s";nonce="%s.%d";tag="railgate"`,
		strings.Join(names, " "), time.Now().Unix(), by.id, by.alg, c.challenge, c.calls)
	base = append(base, `"@signature-params": `+parameters)
	signature := by.sign([]byte(strings.Join(base, "\n")))
	request.Header.Set("signature-input", "sig1="+parameters)
	request.Header.Set("signature", "sig1=:"+base64.StdEncoding.EncodeToString(signature)+":")
	if alter != nil {
		alter(request)
	}
	return c.send(request)
}

func (c *client) send(request *http.Request) (int, object) {
	response := must(http.DefaultClient.Do(request))
	defer response.Body.Close()
	var answer object
	check(json.Unmarshal(must(io.ReadAll(response.Body)), &answer))
	c.challenge = response.Header.Get("Signature-Challenge")
	return response.StatusCode, answer
}

// session gets a token, and agrees with the gateway on a key for its calls.
func (c *client) session(key signer) signer {
	secret := make([]byte, 32)
	must(rand.Read(secret))
	public := must(curve25519.X25519(secret, curve25519.Basepoint))
	offered := object{"jwk": object{"crv": "X25519", "kty": "OKP", "x": base64url.EncodeToString(public)}}
	status, granted := c.call(key, "POST", "/auth/tokens", object{"session": offered}, nil)
	step("session", 200, status, granted)
	c.token = granted["access_token"].(string)
	half := granted["session"].(map[string]any)
	id := half["key_id"].(string)
	theirs := must(base64url.DecodeString(half["jwk"].(map[string]any)["x"].(string)))
	agreed := must(curve25519.X25519(secret, theirs))
	salt := sha256.Sum256([]byte(c.token))
	info := strings.Join([]string{"railgate-session-v1", "sandbox", key.id, id}, "\x00")
	shared := make([]byte, 32)
	must(io.ReadFull(hkdf.New(sha256.New, agreed, salt[:], []byte(info)), shared))
	return signer{id, "hmac-sha256", func(message []byte) []byte {
		mac := hmac.New(sha256.New, shared)
		mac.Write(message)
		return mac.Sum(nil)
	}}
}

func main() {
	if len(os.Args) != 2 {
		fail("usage: go-session BASE_URL")
	}
	c := &client{api: os.Args[1] + "/api/v1"}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	check(err)
	// The RFC 7638 thumbprint: the hash of these three members in this order, without spaces.
	jwk := fmt.Sprintf(`{"crv":"Ed25519","kty":"OKP","x":"%s"}`, base64url.EncodeToString(public))
	thumbprint := sha256.Sum256([]byte(jwk))
	key := signer{base64url.EncodeToString(thumbprint[:]), "ed25519", func(message []byte) []byte { return ed25519.Sign(private, message) }}

	status, first := c.send(must(http.NewRequest("POST", c.api+"/auth/challenges", nil)))
	step("challenge", 200, status, first)
	c.challenge = first["challenge"].(string)
	status, enrolled := c.call(key, "POST", "/auth/enrollments", object{"jwk": json.RawMessage(jwk), "client_name": "go-session"}, nil)
	step("enrol", 201, status, enrolled)

	shared := c.session(key)
	reference := fmt.Sprintf("go-%d-%d-session", time.Now().UnixNano(), os.Getpid())
	settlements := "/gateway/settlements"
	settlement := object{"amount": 12.5, "currency": "EUR", "to": "sim:ok", "reference": reference}
	status, created := c.call(shared, "POST", settlements, settlement, nil)
	step("create in the session", 201, status, created)
	status, found := c.call(shared, "GET", settlements+"/"+reference+"/status", nil, nil)
	step("status in the session", 200, status, found)

	status, problem := c.call(shared, "GET", settlements+"?limit=5", nil, func(request *http.Request) { request.URL.RawQuery = "limit=6" })
	refused("changed query in the session", 401, "signature_invalid", status, problem)
	status, problem = c.call(shared, "POST", "/auth/tokens", object{}, nil)
	refused("token call in the session", 401, "signature_key_required", status, problem)
}

func say(line object) { fmt.Println(string(must(json.Marshal(line)))) }

func step(name string, expected, status int, answer object) {
	say(object{"step": name, "status": status})
	if status != expected {
		fail(fmt.Sprintf("%s: expected %d, got %d: %v", name, expected, status, answer))
	}
}

func refused(name string, expected int, code string, status int, problem object) {
	say(object{"step": "tampered: " + name, "status": status, "code": problem["code"], "expected": code})
	if status != expected || problem["code"] != code {
		fail(fmt.Sprintf("%s: expected %d %s, got %d: %v", name, expected, code, status, problem))
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		fail(err.Error())
	}
}

func fail(why string) {
	fmt.Fprintln(os.Stderr, why)
	os.Exit(1)
}
