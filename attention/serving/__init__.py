"""What stands between the network and Streamlit: who is let in, what an answer says of itself, and how files are sent.

    settings    what the owner of a host sets, by environment variables
    asgi        what a request says, and plain answers
    headers     what every answer tells a browser to refuse
    visitors    which hosts, origins and paths there are for a visitor
    uploads     who may send files, and how much of them
    health      whether this server does its work, for an owner's probe
    files       files of the browser's part, compressed once and kept
    door        nobody's script runs before all that scripts need is imported
    returning   what a browser asks for that comes back after a restart, or at another replica
    messages    what a browser may say, and which values a widget may have
    left        forgets the sessions of visitors who have left, after a while
    leaving     what becomes of a visitor's work whose browser has gone
    failed      what a visitor sees where a page fails
    launch      starts the app as a process of its own, for `attention.show` and the command `attention-lab`
    stack       all of these, in the order in which a request passes them

What a request passes is a class that takes the next one, as ASGI has it. A server imports this before it answers anybody, so
nothing here imports PyTorch or the rest of the package, which takes seconds, until the server runs (`door`).
"""
