// Package dns is the cluster's DNS server: the names of Services, straight from the API server's watch, and nothing
// else, for there is no network outside the cluster to ask.
package dns

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// ttl is short: a Service that is made again gets another address.
const ttl = 2

const (
	maxUDP     = 1232
	tcpTimeout = 10 * time.Second
)

// Lookup returns the addresses of a lower-case name without its final dot, and whether the name exists at all.
type Lookup func(name string) (addresses []netip.Addr, exists bool)

// Serve answers on UDP and TCP until ctx is done.
func Serve(ctx context.Context, address string, lookup Lookup) error {
	packets, err := net.ListenPacket("udp", address)
	if err != nil {
		return fmt.Errorf("listening for DNS packets: %w", err)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		packets.Close()
		return fmt.Errorf("listening for DNS connections: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { packets.Close(); listener.Close() })
	defer stop()
	go servePackets(packets, lookup)
	for {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accepting a DNS connection: %w", err)
		}
		go serveConn(conn, lookup)
	}
}

func servePackets(packets net.PacketConn, lookup Lookup) {
	buffer := make([]byte, 64<<10)
	for {
		n, from, err := packets.ReadFrom(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		if answer, err := Answer(buffer[:n], lookup, maxUDP); err == nil {
			_, _ = packets.WriteTo(answer, from) // the client asks again
		}
	}
}

func serveConn(conn net.Conn, lookup Lookup) {
	defer conn.Close()
	for {
		if err := conn.SetDeadline(time.Now().Add(tcpTimeout)); err != nil {
			return
		}
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		answer, err := Answer(query, lookup, 64<<10-1)
		if err != nil {
			return
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil {
			return
		}
	}
}

// Answer builds the response to one query. An answer over limit bytes is cut down to its header with the truncation
// bit, so that the client comes back over TCP.
func Answer(query []byte, lookup Lookup, limit int) ([]byte, error) {
	var parser dnsmessage.Parser
	header, err := parser.Start(query)
	if err != nil {
		return nil, fmt.Errorf("reading a DNS query: %w", err)
	}
	question, err := parser.Question()
	if err != nil || header.Response {
		return nil, fmt.Errorf("reading a DNS question: %w", errors.Join(err, errNotQuery))
	}
	reply := dnsmessage.Message{
		Header: dnsmessage.Header{
			ID: header.ID, Response: true, Authoritative: true, OpCode: header.OpCode,
			RecursionDesired: header.RecursionDesired, RecursionAvailable: true,
		},
		Questions: []dnsmessage.Question{question},
	}
	fill(&reply, question, lookup)
	packed, err := reply.Pack()
	if err != nil {
		return nil, fmt.Errorf("packing a DNS answer: %w", err)
	}
	if len(packed) <= limit {
		return packed, nil
	}
	reply.Truncated, reply.Answers = true, nil
	return reply.Pack()
}

var errNotQuery = errors.New("not a query")

func fill(reply *dnsmessage.Message, question dnsmessage.Question, lookup Lookup) {
	name := strings.ToLower(strings.TrimSuffix(question.Name.String(), "."))
	addresses, exists := lookup(name)
	if !exists {
		reply.RCode = dnsmessage.RCodeNameError
		return
	}
	if question.Type != dnsmessage.TypeA && question.Type != dnsmessage.TypeALL {
		return // the name exists and has no such record
	}
	for _, address := range addresses {
		reply.Answers = append(reply.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{
				Name: question.Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET, TTL: ttl,
			},
			Body: &dnsmessage.AResource{A: address.As4()},
		})
	}
}
