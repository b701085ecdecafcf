"""A client of the Model Context Protocol as its own library has it: opens a session with the command that is given, lists its tools, calls
those of `[name, arguments]` in the first argument, and prints what came back as a JSON object."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


def plain(answer):
    return answer.model_dump(mode="json", by_alias=True, exclude_none=True)


async def called(session, name, arguments):
    try:
        return plain(await session.call_tool(name, arguments))
    except Exception as error:  # what the protocol answers with an error
        return {"refused": str(error)}


async def main(calls, command):
    server = StdioServerParameters(command=command[0], args=command[1:])
    async with stdio_client(server) as (reading, writing):
        async with ClientSession(reading, writing) as session:
            opened = plain(await session.initialize())
            tools = plain(await session.list_tools())
            answers = [await called(session, name, arguments) for name, arguments in calls]
            await session.send_ping()
    print(json.dumps({"opened": opened, "tools": tools["tools"], "answers": answers}))


asyncio.run(main(json.loads(sys.argv[1]), sys.argv[2:]))
